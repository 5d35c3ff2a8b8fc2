package main

import "strings"

// Words of closed classes, from general knowledge of English and its neighbours.

func functionWords() []string {
	return strings.Fields(`the a an i you he she it we they me him us them my your his its our their mine yours hers ours theirs
	this that these those who whom whose which what when where why how if then else than because so but and or nor not no yes
	of to in on at by for from with without about into onto over under after before since until while during through between among against
	is am are was were be been being has have had having do does did doing done can could would should shall must might
	there here also just only very too more most some any all each every both few many much other another such same own
	im ive ill id youre youve youll youd hes shes its were weve well theyre theyve theyll isnt arent wasnt werent dont doesnt didnt
	cant couldnt wont wouldnt shouldnt havent hasnt hadnt thats theres heres whats lets im
	please thanks thank hello hi hey dear sorry ok okay yeah hmm oh well now today tomorrow yesterday
	however therefore although though unless whether as up down out off again further once`)
}

func titleWords() []string {
	return strings.Fields(`mr mrs ms miss mx dr prof professor sir madam dame lord lady rev reverend fr father sr jr st capt captain col colonel gen general lt lieutenant
	sgt sergeant maj major cpl corporal pvt private sen senator rep representative gov governor president pres judge justice hon herr frau monsieur madame mme mlle
	señor señora sra don doña signor signora dott ing sheikh imam rabbi sister brother mayor officer detective inspector agent nurse coach king queen prince princess pope saint`)
}

func particleWords() []string {
	return strings.Fields(`van von der den de del della di da das do dos du la le les el al bin ibn binti ben abu ter ten af av zu zum y e of`)
}

func orgWords() []string {
	return strings.Fields(`inc ltd llc gmbh corp corporation company co plc ag sa bank university college school institute hospital clinic church foundation association
	group holdings partners technologies systems software solutions labs industries department ministry committee agency bureau council court press times post journal
	news magazine museum airlines motors electronics pharmaceuticals insurance consulting services studios records fc united club society union party team project
	airport station street road avenue boulevard lane drive hotel park river lake mountain mount bay island islands beach valley county district province city north south east west
	prize award theorem disease syndrome law act effect algorithm protocol theory method scale test index`)
}

func calendarWords() []string {
	return strings.Fields(`january february march april may june july august september october november december jan feb mar apr jun jul aug sep sept oct nov dec
	monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun easter christmas ramadan diwali hanukkah thanksgiving halloween
	spring summer autumn fall winter am pm gmt utc est edt pst pdt cet`)
}

// companies returns companies, products and works, many of which are named after persons or places.
func companies() []string {
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(`Google,Microsoft,Apple,Amazon,Facebook,Meta,Netflix,Tesla,Ford,Dell,Siemens,Bosch,Mercedes,Porsche,Ferrari,Chrysler,Honda,Toyota,Suzuki,
Disney,Warner Brothers,Hewlett-Packard,Cadbury,Kellogg,Heinz,Gucci,Prada,Armani,Versace,Adidas,Nike,Philips,Philip Morris,JP Morgan,Morgan Chase,Wells Fargo,Goldman Sachs,Merrill Lynch,
Barclays,Lloyds,Johnson & Johnson,Procter & Gamble,Ernst & Young,Eli Lilly,Merck,Bayer,Pfizer,Boeing,Airbus,Rolls-Royce,Harley-Davidson,Walmart,Macy's,Wendy's,McDonald's,Denny's,Trader Joe's,
Barnes & Noble,Black & Decker,Dow Jones,Standard & Poor's,Moody's,Fitch,Bloomberg,Reuters,Pearson,Elsevier,Wiley,Springer,Penguin,Sony,Samsung,Nokia,Ericsson,Oracle,SAP,IBM,Intel,AMD,Nvidia,
OpenAI,ChatGPT,GPT,Gemini,Copilot,Alexa,Siri,Cortana,Watson,Linux,Windows,Android,Debian,Ubuntu,Fedora,Python,Java,JavaScript,Ruby,Perl,Rust,Kotlin,Julia,Haskell,Pascal,Erlang,Scala,
Kafka,Cassandra,Jenkins,Jira,Docker,Kubernetes,Grafana,Prometheus,Redis,Postgres,MySQL,Excel,Word,Outlook,Photoshop,Slack,Zoom,Teams,Notion,Trello,GitHub,GitLab,Bitbucket,Twitter,Instagram,
TikTok,YouTube,LinkedIn,Reddit,Wikipedia,PayPal,Visa,MasterCard,American Express,Uber,Lyft,Airbnb,Hilton,Marriott,Hyatt,Lufthansa,Delta,United Airlines,British Airways,Air France,
Real Madrid,Manchester United,Chelsea,Arsenal,Bayern Munich,AC Milan,New York Times,Washington Post,Boston Globe,Chicago Tribune,Financial Times,BBC,CNN,NBC,CBS,ESPN,NASA,FBI,CIA,NATO,UN,EU,
Harvard,Yale,Stanford,Oxford University,Johns Hopkins,Carnegie Mellon,MIT,UCLA,Red Cross,Greenpeace,Amnesty International,Supreme Court,Congress,Senate,Parliament,White House,Pentagon,
Harry Potter,Hamlet,Macbeth,Don Quixote,Star Wars,Star Trek,Game of Thrones,The Simpsons,Doctor Who,Toy Story,Batman,Superman,Mario Kart,Zelda,Minecraft,World Cup,Super Bowl,Olympics,
Christmas Eve,Valentine's Day,Mother's Day,Saint Patrick's Day,Black Friday,World War II,Cold War,Civil War,Bible,Quran,Torah,Old Testament`, "\n", "")), ",")
}
