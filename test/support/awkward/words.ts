/** The words awkward names are made of, the values awkward records carry, and what else a query may hold. */

const latin = listed(`
  Stone Black Blackstone Blackrock Rock Capital Cap Capita Capitol Sequoia Seq Quo Realty Real
  Real-Estate Re KK KKR Bankkern Bank Banker Kern GEM Gemini Management Manage Age Partners
  Partner Part Art A Of De La AI Retail Retailers REIT LP LLC L.P. L.L.C. Inc. North Northwind
  Wind Win J.P. JP J P Morgan Organ Co Co-Invest Fort-Worth Fort–Worth AT&T R&D III II I
`);

// Spellings that fold alike, or nearly: accents, ligatures, apostrophes, dots, Turkish and Greek case.
const spelt = listed(`
  Société Societe Générale GÉNÉRALE Zürich Zuerich Straße Strasse STRASSE Æther Aether Ægir
  Ørsted Orsted Łódź Lodz Þór Thor Đông Ðal Dal Ħal Œuvre Oeuvre ẞ ŉ ﬁnance ĳ Ǆ ſtone ǽ
  O'Brien O’Brien O‘Brien OʼBrien OBrien O\`Brien O´Brien O＇Brien OʻBrien S'S St.Paul St…Paul
  İstanbul Istanbul ıstanbul ISTANBUL Işık IŞIK ΟΔΟΣ οδός οδοσ Οδός. Σ σ ς Москва МОСКВА Ёлка
  ＫＫＲ Ｃａｐｉｔａｌ ｋｋ Ⓚ 𝐊𝐊𝐑 ᴷᴷ ℓ Fund™ №7 Ⅳ IV
`);

const digits = listed("1 2 21 12 2121 360 3.5 35 ½ ② 1031 1031x 506(c) 7-11");

// Scripts written without spaces, half-width forms, syllables that decompose, letters beyond 16 bits and just below.
const unspaced = listed(`
  三菱 三菱地所 地所 東京 東京都 京都 三井不動産 不動産 ひかり ひか かり タワー ﾀﾜｰ ワー
  ガラス ｶﾞﾗｽ からす 한국 한국투자 국투 투자 하 กรุงเทพ เทพ พัฒนา น้ำ 𠮷野 野 﨑 﨑野 KKタワー
`);

const otherScripts = listed("नई दिल्ली برج العرب ברקת 𐐀𐐁 𐐨𐐩 ೧");

// A soft hyphen, a zero-width joiner and variation selectors stand inside these.
const invisible = [
  "Black\u00adstone",
  "Black\u200dstone",
  "Stone\ufe0f",
  "क्\u200dष",
  "Real\u00a0Estate",
];

export const words = [...latin, ...spelt, ...digits, ...unspaced, ...otherScripts, ...invisible];

export const personWords = listed(`
  Ann Anne Anna Hannah J. Jo José Jose O'Neil O’Neil Müller MÜLLER Mueller Nguyễn 田中 중 Ng Å
  Smith Smythe SMITH Jr. Sr. III de van Łukasz Øystein Иван Σωκράτης
`);

/** Each line is one value in several spellings; some fold alike, some nearly. */
export const tagSpellings = [
  ["reg_d_506c", "Reg D 506c", "REG-D-506C", "reg d 506(c)"],
  ["serial_filer", "Serial Filer", "serial.filer", "serialfiler"],
  ["ai", "AI", "A.I.", "retail ai"],
  ["Retail", "RETAIL", "re_tail"],
  ["Value Add", "VALUE-ADD", "value_added"],
  ["Multi Family", "multi-family", "ＭＵＬＴＩＦＡＭＩＬＹ"],
  ["größe", "GRÖSSE", "grosse", "gro\u0308ße"],
  ["三菱", "ﾀﾜｰ", "タワー"],
  ["constructor", "__proto__", "null", "0"],
  ["x", "X.", "x x"],
];

export const themeSpellings = [
  ["build_to_rent", "Build to Rent", "BUILD-TO-RENT", "build_to_rents"],
  ["opportunity_zones", "Opportunity Zones", "opportunity_zone"],
  ["1031_exchange_dst", "1031 Exchange (DST)", "1031"],
  ["L'été", "l’ete", "LETE"],
  ["ai", "data_centers", "Data Centers", "data_center"],
];

export const marketTitles = [
  "Dallas-Fort Worth-Arlington, TX",
  "dallas-fort worth-arlington, tx",
  "DALLAS-FORT WORTH, TX",
  "Arlington, VA",
  "Dallas, GA",
  "New York-Newark-Jersey City, NY-NJ-PA",
  "Newark, OH",
  "Kansas City, MO-KS",
  "Winston-Salem, NC",
  "winston-salem, nc",
  "Greensboro-Winston-Salem-High Point, NC",
  "Salem, OR",
  "Scranton-Wilkes-Barre, PA",
  "Scranton--Wilkes-Barre--Hazleton, PA",
  "Barre, VT",
  "Dover-Foxcroft, ME",
  "Milton-Freewater-Walla Walla, OR-WA",
  "Raleigh-Cary-Fuquay-Varina, NC",
  "Winston-Salemburg, NC",
  "Nashville-Davidson--Murfreesboro--Franklin, TN",
  "Louisville/Jefferson County, KY-IN",
  "Minneapolis-St. Paul-Bloomington, MN-WI",
  "Coeur d’Alene, ID",
  "Cañon City, CO",
  "Asia-Pacific",
  "ASIA-PACIFIC",
  "Frankfurt-Rhine-Main",
  "Paris, France",
  "São Paulo-Campinas, SP",
  "Toronto, ON",
  "London",
  "東京",
  "Dallas",
  "Fort Worth, TX, USA",
];

/** Values that mean something to SQL, to full-text search, to patterns, to URLs or to JavaScript. */
export const special = [
  ...listed("% _ * \" ( ) : ^ $ \\ ' ? + [ { | & # ; -- /* .* ^a $& \\1 %% __ *:* ."),
  ...listed(
    "stone% sto* *stone ^stone$ st.ne (stone|bank) [a-z]+ name:stone stone\\ st_ne %stone%",
  ),
  "stone OR bank",
  "stone AND bank",
  "NOT stone",
  "NEAR(stone bank)",
  '"stone bank"',
  "-stone",
  "+stone",
  "' OR 1=1 --",
  "'; DROP TABLE gps; --",
  "stone' --",
  "%2e%2e",
  "../../stone",
  "stone;bank",
  ...listed("__proto__ constructor toString hasOwnProperty null undefined NaN true 0 -1 1e3"),
];

/** No letter and no digit in any of them. */
export const unsearchable = [
  "%%",
  "--",
  "...",
  "''",
  "’’",
  "🏢🏢",
  "_ _",
  "\u0301\u0301",
  "\u00ad\u00ad",
  "、。",
  "¿?",
];

/** @returns the words of a text, which blanks and line ends part. */
export function listed(text: string): string[] {
  return text.trim().split(/[ \n]+/);
}
