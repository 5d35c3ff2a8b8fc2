package pii

// rows are the recognizers of numbers that have a shape. The name of each check says whose rule it is. Base
// scores say how rarely something else has the form: below the threshold, a word of the context is needed.
func rows() []row {
	return []row{
		{name: "ABA_ROUTING_NUMBER", forms: "999999999", check: abaRouting, score: 0.2},
		{name: "ABA_ROUTING_NUMBER", forms: "9999-9999-9", check: abaRouting, score: 0.4},
		{name: "AU_ABN", forms: "99-999-999-999", check: auABN, score: 0.5},
		{name: "AU_ABN", forms: "99999999999", check: auABN, score: 0.2},
		{name: "AU_ACN", forms: "999-999-999 999999999", check: auACN, score: 0.2},
		{name: "AU_MEDICARE", forms: "9999-99999-9 9999-99999-9/9", check: auMedicare, score: 0.5},
		{name: "AU_MEDICARE", forms: "9999999999", check: auMedicare, score: 0.2},
		{name: "AU_TFN", forms: "999-999-999 999999999", check: auTFN, score: 0.2},
		{name: "CA_SIN", forms: "999-999-999", check: caSIN, score: 0.35},
		{name: "CA_SIN", forms: "999999999", check: caSIN, score: 0.3},
		{name: "DE_TAX_ID", forms: "99-999-999-999 99999999999", check: deTaxID, score: 0.5},
		{name: "ES_NIE", forms: "A9999999A A-9999999-A A9999999-A", check: esNIE, score: 0.7},
		{name: "ES_NIF", forms: "99999999A 99999999-A", check: esNIF, score: 0.7},
		{name: "FI_PERSONAL_IDENTITY_CODE", forms: "999999-9999 999999-999A 999999+9999 999999+999A 999999A9999 999999A999A", check: fiHetu, score: 0.8},
		{name: "IN_AADHAAR", forms: "9999-9999-9999", check: aadhaar, score: 0.55},
		{name: "IN_AADHAAR", forms: "999999999999", check: aadhaar, score: 0.25},
		{name: "IN_PAN", forms: "AAAAA9999A", check: inPAN, score: 0.6, small: true},
		{name: "IN_PASSPORT", forms: "A9999999", check: inPassport, score: 0.2},
		{name: "IN_VEHICLE_REGISTRATION", forms: "AA99AA9999 AA99A9999 AA-99-AA-9999 AA-99-A-9999", check: inVehicle, score: 0.55},
		{name: "IN_VOTER", forms: "AAA9999999", score: 0.3},
		{name: "IT_DRIVER_LICENSE", forms: "AA9999999A A9A999999A A99999999A", check: itDriver, score: 0.2},
		{name: "IT_FISCAL_CODE", forms: itFiscalForms, check: itFiscal, score: 0.9, small: true},
		{name: "IT_IDENTITY_CARD", forms: "AA9999999 9999999AA AA99999AA", score: 0.2},
		{name: "IT_PASSPORT", forms: "AA9999999", score: 0.2},
		{name: "IT_VAT_CODE", forms: "99999999999", check: itVAT, score: 0.2},
		{name: "IT_VAT_CODE", forms: "AA99999999999", check: itVATPrefixed, score: 0.7},
		{name: "KR_RRN", forms: "999999-9999999", check: krRRN, score: 0.55},
		{name: "KR_RRN", forms: "9999999999999", check: krRRN, score: 0.2},
		{name: "MEDICAL_LICENSE", forms: "AA9999999 A99999999", check: deaNumber, score: 0.5},
		{name: "PL_PESEL", forms: "99999999999", check: plPESEL, score: 0.45},
		{name: "SE_PERSONNUMMER", forms: "999999-9999 999999+9999 99999999-9999 99999999+9999", check: sePersonnummer, score: 0.5},
		{name: "SE_PERSONNUMMER", forms: "9999999999 999999999999", check: sePersonnummer, score: 0.2},
		{name: "SG_NRIC_FIN", forms: "A9999999A", check: sgNRIC, score: 0.8},
		{name: "SG_UEN", forms: "99999999A 999999999A", check: sgUEN, score: 0.35},
		{name: "SG_UEN", forms: "A99AA9999A", check: sgUENOther, score: 0.5},
		{name: "TH_TNIN", forms: "9-9999-99999-99-9", check: thTNIN, score: 0.6},
		{name: "TH_TNIN", forms: "9999999999999", check: thTNIN, score: 0.25},
		{name: "TR_NATIONAL_ID", forms: "99999999999", check: trNationalID, score: 0.4},
		{name: "UK_DRIVING_LICENCE", forms: ukLicenceForms, check: ukLicence, score: 0.6},
		{name: "UK_NHS", forms: "999-999-9999", check: ukNHS, score: 0.5},
		{name: "UK_NHS", forms: "9999999999", check: ukNHS, score: 0.4},
		{name: "UK_NINO", forms: "AA999999A AA-99-99-99-A AA-999999-A", check: ukNINO, score: 0.6},
		{name: "US_BANK_NUMBER", forms: "99999999 999999999 9999999999 99999999999 999999999999 9999999999999 99999999999999 999999999999999 9999999999999999 99999999999999999", check: notRepeated, score: 0.15},
		{name: "US_DRIVER_LICENSE", forms: usLicenseForms, check: notRepeated, score: 0.2},
		{name: "US_DRIVER_LICENSE", forms: "9999999 99999999 999999999", check: notRepeated, score: 0.15},
		{name: "US_ITIN", forms: "999-99-9999", check: usITIN, score: 0.6},
		{name: "US_ITIN", forms: "999999999", check: usITIN, score: 0.3},
		{name: "US_NPI", forms: "9999999999 9999-999-999", check: usNPI, score: 0.25},
		{name: "US_PASSPORT", forms: "999999999 A99999999", check: notRepeated, score: 0.2},
		{name: "US_SSN", forms: "999-99-9999", check: usSSN, score: 0.85},
		{name: "US_SSN", forms: "999999999 999-999999 99999-9999", check: usSSN, score: 0.25},
		{name: "ZA_ID_NUMBER", forms: "9999999999999", check: zaID, score: 0.5},
	}
}

// usLicenseForms are the forms of the states' driver licenses that have a letter.
const usLicenseForms = "A999999 A9999999 A99999999 A999999999 A99999999999 A999999999999 A9999999999999 A99999999999999 AA999999 AA9999999 AA99999 " +
	"99AAA99999 99AAA999999 999999999A 99999999AA 999AA9999 9999999A 99999999A A999-9999-9999 A999-9999-9999-99 A99-99-9999 A999-999-99-999-9"

// itFiscalForms are the forms of the Italian fiscal code: each digit may be a letter where two people would have
// the same code.
const itFiscalForms = "AAAAAA99A99A999A AAAAAA99A99A99AA AAAAAA99A99A9AAA AAAAAA99A99AAAAA AAAAAA99A9AAAAAA AAAAAA99AAAAAAAA AAAAAA9AAAAAAAAA AAA-AAA-99A99-A999A"

// contextTable returns the words that speak for an entity when they are before a value. They are words of
// English, and of the entity's country.
func contextTable() []struct{ entity, words string } {
	return []struct{ entity, words string }{
		{"CREDIT_CARD", "credit card visa mastercard amex discover jcb diners maestro debit cc pan"},
		{"CRYPTO", "wallet btc bitcoin crypto ethereum eth address"},
		{"IBAN_CODE", "iban bank account transaction"},
		{"IP_ADDRESS", "ip ipv address host server"},
		{"MAC_ADDRESS", "mac ethernet hardware adapter bluetooth"},
		{"PHONE_NUMBER", "phone telephone tel mobile cell cellphone call calling called fax text sms message answering voicemail landline whatsapp contact reach dial ring hotline telefon handy téléphone portable teléfono móvil telefono cellulare"},
		{"ABA_ROUTING_NUMBER", "aba routing transit rtn"},
		{"AU_ABN", "abn australian business"},
		{"AU_ACN", "acn australian company"},
		{"AU_MEDICARE", "medicare"},
		{"AU_TFN", "tfn tax file"},
		{"CA_SIN", "sin insurance canadian"},
		{"DE_TAX_ID", "steuer steuernummer idnr steueridentifikationsnummer identifikationsnummer tin tax steuerid"},
		{"ES_NIE", "nie extranjero identificación número"},
		{"ES_NIF", "nif dni documento identificación"},
		{"FI_PERSONAL_IDENTITY_CODE", "hetu henkilötunnus personbeteckning identity"},
		{"IN_AADHAAR", "aadhaar aadhar uidai adhaar"},
		{"IN_PAN", "pan permanent"},
		{"IN_PASSPORT", "passport"},
		{"IN_VEHICLE_REGISTRATION", "rto vehicle plate registration car"},
		{"IN_VOTER", "voter epic elector"},
		{"IT_DRIVER_LICENSE", "patente guida license licence driver driving"},
		{"IT_FISCAL_CODE", "codice fiscale fiscal cf"},
		{"IT_IDENTITY_CARD", "carta identità identita cie identity"},
		{"IT_PASSPORT", "passaporto passport"},
		{"IT_VAT_CODE", "iva partita piva vat"},
		{"KR_RRN", "korea korean rrn resident registration"},
		{"MEDICAL_LICENSE", "dea medical certificate license licence prescriber"},
		{"PL_PESEL", "pesel"},
		{"SE_PERSONNUMMER", "personnummer samordningsnummer swedish"},
		{"SG_NRIC_FIN", "nric fin singapore identification"},
		{"SG_UEN", "uen entity registration"},
		{"TH_TNIN", "thai tnin identification"},
		{"TR_NATIONAL_ID", "tc tckn kimlik turkish"},
		{"UK_DRIVING_LICENCE", "driving licence license dvla"},
		{"UK_NHS", "nhs health patient"},
		{"UK_NINO", "insurance nino ni"},
		{"US_BANK_NUMBER", "account acct bank checking savings debit routing aba deposit"},
		{"US_DRIVER_LICENSE", "driver drivers license licence permit lic dl dls cdl driving"},
		{"US_ITIN", "itin taxpayer individual tax tin"},
		{"US_NPI", "npi provider nppes"},
		{"US_PASSPORT", "passport travel document"},
		{"US_SSN", "ssn social security ss"},
		{"ZA_ID_NUMBER", "south african identity rsa"},
	}
}
