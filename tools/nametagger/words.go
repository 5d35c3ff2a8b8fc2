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

// stateCodes returns the codes of the states of the US.
func stateCodes() []string {
	return strings.Fields(`AL AK AZ AR CA CO CT DE FL GA HI IA ID IL IN KS KY LA MA MD ME MI MN MO MS MT NC ND NE NH NJ NM NV NY OH OK OR PA RI SC SD TN TX UT VA VT WA WI WV WY DC`)
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
Claude,Llama,Mistral,Grok,Bard,Eliza,Dolly,Falcon,Alpaca,Gemma,Bert,Adam,Ada,Hugging Face,Anthropic,DeepMind,Cohere,Perplexity,Figma,Maya,Sage,Salesforce,Einstein,
Romeo and Juliet,Thelma & Louise,Ben & Jerry's,Anna Karenina,Madame Bovary,Oliver Twist,David Copperfield,Jane Eyre,King Lear,Othello,Faust,Carmen,Aida,Tosca,Rigoletto,Forrest Gump,
Mary Poppins,Billy Elliot,Jerry Maguire,Erin Brockovich,Good Will Hunting,Saving Private Ryan,Rosemary's Baby,Schindler's List,Being John Malkovich,Ally McBeal,Will & Grace,Tom and Jerry,
Victoria's Secret,Papa John's,Jimmy Choo,Calvin Klein,Ralph Lauren,Tommy Hilfiger,Louis Vuitton,Hugo Boss,Yves Saint Laurent,Dolce & Gabbana,Jack Daniel's,Johnnie Walker,Jim Beam,
Captain Morgan,Dr Pepper,Aunt Jemima,Uncle Ben's,Levi's,Christie's,Sotheby's,Mary Kay,Estée Lauder,Max Mara,John Deere,Charles Schwab,Morgan Stanley,Raymond James,Edward Jones,
Deloitte,McKinsey,Bain,Nielsen,Gallup,Carl Zeiss,Ray-Ban,Paul Smith,Ted Baker,Jack Wolfskin,Marc Jacobs,Michael Kors,Kate Spade,Stella Artois,Don Julio,Jose Cuervo,Duncan Hines,
Sara Lee,Betty Crocker,Chef Boyardee,Famous Amos,Oscar Mayer,Jimmy Dean,Wendy's,Carl's Jr,Chili's,Applebee's,Kohl's,Dillard's,Lowe's,Sam's Club,Dick's,Domino's,Arby's,Hardee's,
Der Spiegel,Die Zeit,Le Monde,El País,Vanity Fair,Marie Claire,Harper's Bazaar,Forbes,Fortune,Christmas Eve,Valentine's Day,Mother's Day,Saint Patrick's Day,Black Friday,World War II,Cold War,Civil War,Bible,Quran,Torah,Old Testament`, "\n", "")), ",")
}

// things returns what is named after persons and is none.
func things() []string {
	return strings.Split(strings.ReplaceAll(`Newton,Watt,Kelvin,Hertz,Celsius,Fahrenheit,Joule,Ampere,Volt,Pascal,Tesla coil,Geiger counter,Bunsen burner,Petri dish,Ferris wheel,Rubik's cube,Zeppelin,
Molotov cocktail,Bloody Mary,Caesar salad,Caesar dressing,Earl Grey,Eggs Benedict,Pizza Margherita,Beef Wellington,Peach Melba,Tom Collins,Shirley Temple,Arnold Palmer,Granny Smith,Graham cracker,
Murphy's law,Moore's law,Occam's razor,Pandora's box,Achilles heel,Hobson's choice,Parkinson's,Alzheimer's,Down syndrome,Lyme disease,Turing machine,Turing test,Markov chain,Monte Carlo,
Dijkstra's algorithm,Bellman-Ford,Kruskal's algorithm,Huffman coding,Fourier transform,Laplace transform,Gaussian blur,Bayes theorem,Pythagorean theorem,Fibonacci numbers,Pascal's triangle,
Venn diagram,Gantt chart,Likert scale,Richter scale,Mohs scale,Beaufort scale,Planck length,Avogadro's number,Boltzmann constant,Heisenberg uncertainty,Schrödinger's cat,Pavlov's dog,
Stockholm syndrome,Nobel Prize,Pulitzer Prize,Oscar,Emmy,Grammy,Tony Award,Booker Prize,Fields Medal,Ballon d'Or,Davis Cup,Stanley Cup,Ryder Cup,Heisman Trophy,Lombardi Trophy,
Eiffel Tower,Hoover Dam,Brooklyn Bridge,Lincoln Memorial,Washington Monument,Carnegie Hall,Madison Square Garden,Rockefeller Center,Wembley,Guggenheim,Smithsonian,Tate Modern,
Martin Luther King Day,Guy Fawkes Night,Columbus Day,Presidents Day,Saint Valentine,Halley's comet,Kuiper belt,Hubble telescope,James Webb telescope,Voyager,Apollo,Artemis,Cassini,Kepler,
Django,Flask,Apache Cassandra,Jupyter,Kerberos,Ruby on Rails,Jenkins pipeline,Maven,Gradle,Selenium,Athena,Aurora,Lambda,Hadoop,Spark,Hugo,Jekyll,Babel,Bazel,Vagrant,Ansible,
Dewey Decimal,Braille,Morse code,Cyrillic,Gregorian calendar,Victorian,Georgian,Elizabethan,Marxism,Darwinism,Freudian slip,Machiavellian,Napoleon complex,Oedipus complex,Peter principle,
Phillips screwdriver,Allen key,Stanley knife,Swiss Army knife,Winchester rifle,Colt,Kalashnikov,Stetson,Cardigan,Wellington boots,Levi jeans,Mackintosh,Leotard,Raglan,Oxford shoes,
German Shepherd,Jack Russell,Saint Bernard,Doberman,Cavalier King Charles,Black-eyed Susan,Sweet William,Venus flytrap,Aloe Vera,Rosemary,Basil,Sage,Ginger,Olive,Jasmine,Daisy,Lily,Iris,
Crimson,Scarlet,Hazel,Amber,Ruby,Violet,Ivory,Coral,Sienna,Jade,Pearl,Opal,Garnet,Indigo,Auburn,Ebony`, "\n", ""), ",")
}
