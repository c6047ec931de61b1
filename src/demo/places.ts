/** Where the invented GPs and projects are: real metropolitan areas, by how much of the business sits there. */
import { rows } from "./lists.ts";
import { headFirst, weighted, type Random } from "./random.ts";

export interface Metro {
  /** Title of the Census Bureau's core-based statistical area, delineation of 2015. */
  title: string;
  /** Degrees, to about a kilometre. */
  latitude: number;
  longitude: number;
  cities: readonly City[];
}

export interface City {
  name: string;
  /** Two letters; null abroad. */
  state: string | null;
  /** ISO 3166, two letters. */
  country: string;
  /** First three digits of its ZIP codes; empty abroad. */
  zipStart: string;
}

// Title | latitude longitude | cities, each with its state and the first three digits of its ZIP codes.
const metroRows = rows(`
  New York-Newark-Jersey City, NY-NJ-PA | 40.73 -73.99 | New York NY 100, Brooklyn NY 112, White Plains NY 106, Newark NJ 071, Jersey City NJ 073, Great Neck NY 110
  Los Angeles-Long Beach-Anaheim, CA | 34.05 -118.25 | Los Angeles CA 900, Santa Monica CA 904, Irvine CA 926, Newport Beach CA 926, Pasadena CA 911, Long Beach CA 908
  Dallas-Fort Worth-Arlington, TX | 32.81 -96.87 | Dallas TX 752, Fort Worth TX 761, Plano TX 750, Irving TX 750, Arlington TX 760
  Chicago-Naperville-Elgin, IL-IN-WI | 41.88 -87.68 | Chicago IL 606, Oak Brook IL 605, Northbrook IL 600, Naperville IL 605, Evanston IL 602
  San Francisco-Oakland-Hayward, CA | 37.77 -122.41 | San Francisco CA 941, Oakland CA 946, Walnut Creek CA 945, San Mateo CA 944
  Atlanta-Sandy Springs-Roswell, GA | 33.77 -84.39 | Atlanta GA 303, Alpharetta GA 300, Marietta GA 300, Decatur GA 300
  Miami-Fort Lauderdale-West Palm Beach, FL | 25.79 -80.22 | Miami FL 331, Fort Lauderdale FL 333, Boca Raton FL 334, West Palm Beach FL 334
  Boston-Cambridge-Newton, MA-NH | 42.36 -71.07 | Boston MA 021, Cambridge MA 021, Newton MA 024, Wellesley MA 024, Quincy MA 021
  Washington-Arlington-Alexandria, DC-VA-MD-WV | 38.9 -77.04 | Washington DC 200, Bethesda MD 208, Arlington VA 222, Alexandria VA 223, Reston VA 201
  Houston-The Woodlands-Sugar Land, TX | 29.76 -95.39 | Houston TX 770, Sugar Land TX 774, Spring TX 773, Katy TX 774
  Austin-Round Rock, TX | 30.28 -97.74 | Austin TX 787, Round Rock TX 786, Cedar Park TX 786, Georgetown TX 786
  Denver-Aurora-Lakewood, CO | 39.74 -104.98 | Denver CO 802, Greenwood Village CO 801, Lakewood CO 802, Aurora CO 800
  Phoenix-Mesa-Scottsdale, AZ | 33.46 -112.05 | Phoenix AZ 850, Scottsdale AZ 852, Tempe AZ 852, Mesa AZ 852
  Seattle-Tacoma-Bellevue, WA | 47.61 -122.31 | Seattle WA 981, Bellevue WA 980, Tacoma WA 984, Kirkland WA 980
  San Diego-Carlsbad, CA | 32.78 -117.14 | San Diego CA 921, La Jolla CA 920, Carlsbad CA 920
  Charlotte-Concord-Gastonia, NC-SC | 35.22 -80.84 | Charlotte NC 282, Huntersville NC 280, Rock Hill SC 297
  Philadelphia-Camden-Wilmington, PA-NJ-DE-MD | 39.96 -75.17 | Philadelphia PA 191, Conshohocken PA 194, Wilmington DE 198, Cherry Hill NJ 080
  Nashville-Davidson--Murfreesboro--Franklin, TN | 36.14 -86.78 | Nashville TN 372, Franklin TN 370, Brentwood TN 370
  Tampa-St. Petersburg-Clearwater, FL | 27.95 -82.46 | Tampa FL 336, St. Petersburg FL 337, Clearwater FL 337
  Minneapolis-St. Paul-Bloomington, MN-WI | 44.97 -93.24 | Minneapolis MN 554, Edina MN 554, St. Paul MN 551
  Orlando-Kissimmee-Sanford, FL | 28.54 -81.38 | Orlando FL 328, Winter Park FL 327, Lake Mary FL 327
  Salt Lake City, UT | 40.75 -111.89 | Salt Lake City UT 841, Sandy UT 840, Draper UT 840
  San Jose-Sunnyvale-Santa Clara, CA | 37.35 -121.92 | San Jose CA 951, Palo Alto CA 943, Sunnyvale CA 940, Los Gatos CA 950
  Portland-Vancouver-Hillsboro, OR-WA | 45.52 -122.67 | Portland OR 972, Beaverton OR 970, Vancouver WA 986
  Bridgeport-Stamford-Norwalk, CT | 41.12 -73.42 | Stamford CT 069, Greenwich CT 068, Westport CT 068
  Riverside-San Bernardino-Ontario, CA | 34.02 -117.39 | Riverside CA 925, Ontario CA 917, San Bernardino CA 924
  Raleigh, NC | 35.79 -78.65 | Raleigh NC 276, Cary NC 275
  Las Vegas-Henderson-Paradise, NV | 36.14 -115.17 | Las Vegas NV 891, Henderson NV 890
  Columbus, OH | 39.97 -83 | Columbus OH 432, Dublin OH 430, Westerville OH 430
  Indianapolis-Carmel-Anderson, IN | 39.79 -86.15 | Indianapolis IN 462, Carmel IN 460, Fishers IN 460
  San Antonio-New Braunfels, TX | 29.45 -98.5 | San Antonio TX 782, New Braunfels TX 781
  Kansas City, MO-KS | 39.07 -94.59 | Kansas City MO 641, Overland Park KS 662, Leawood KS 662
  St. Louis, MO-IL | 38.64 -90.3 | St. Louis MO 631, Clayton MO 631, Chesterfield MO 630
  Detroit-Warren-Dearborn, MI | 42.38 -83.1 | Detroit MI 482, Birmingham MI 480, Southfield MI 480
  Cleveland-Elyria, OH | 41.48 -81.67 | Cleveland OH 441, Beachwood OH 441
  Cincinnati, OH-KY-IN | 39.13 -84.51 | Cincinnati OH 452, Blue Ash OH 452, Covington KY 410
  Baltimore-Columbia-Towson, MD | 39.3 -76.62 | Baltimore MD 212, Towson MD 212, Columbia MD 210
  Sacramento--Roseville--Arden-Arcade, CA | 38.59 -121.46 | Sacramento CA 958, Roseville CA 956, Folsom CA 956
  Pittsburgh, PA | 40.44 -79.98 | Pittsburgh PA 152, Canonsburg PA 153
  Milwaukee-Waukesha-West Allis, WI | 43.05 -87.96 | Milwaukee WI 532, Brookfield WI 530
  Jacksonville, FL | 30.32 -81.66 | Jacksonville FL 322, Ponte Vedra Beach FL 320
  Richmond, VA | 37.55 -77.46 | Richmond VA 232, Glen Allen VA 230
  Greenville-Anderson-Mauldin, SC | 34.84 -82.39 | Greenville SC 296, Anderson SC 296
  Charleston-North Charleston, SC | 32.81 -79.96 | Charleston SC 294, Mount Pleasant SC 294
  Boise City, ID | 43.61 -116.23 | Boise ID 837, Meridian ID 836
  Virginia Beach-Norfolk-Newport News, VA-NC | 36.85 -76.18 | Virginia Beach VA 234, Norfolk VA 235, Newport News VA 236
  Louisville/Jefferson County, KY-IN | 38.23 -85.72 | Louisville KY 402, New Albany IN 471
  Memphis, TN-MS-AR | 35.12 -89.92 | Memphis TN 381, Germantown TN 381
  New Orleans-Metairie, LA | 29.97 -90.1 | New Orleans LA 701, Metairie LA 700
  Oklahoma City, OK | 35.48 -97.53 | Oklahoma City OK 731, Edmond OK 730
  Birmingham-Hoover, AL | 33.5 -86.8 | Birmingham AL 352, Hoover AL 352
  Omaha-Council Bluffs, NE-IA | 41.25 -96 | Omaha NE 681, Council Bluffs IA 515
  Hartford-West Hartford-East Hartford, CT | 41.76 -72.69 | Hartford CT 061, West Hartford CT 061
  Providence-Warwick, RI-MA | 41.81 -71.43 | Providence RI 029, Warwick RI 028
  Buffalo-Cheektowaga-Niagara Falls, NY | 42.91 -78.83 | Buffalo NY 142, Amherst NY 142
  Tucson, AZ | 32.22 -110.95 | Tucson AZ 857
  Durham-Chapel Hill, NC | 35.98 -78.93 | Durham NC 277, Chapel Hill NC 275
  Winston-Salem, NC | 36.1 -80.25 | Winston-Salem NC 271, High Point NC 272
  North Port-Sarasota-Bradenton, FL | 27.35 -82.5 | Sarasota FL 342, Bradenton FL 342
  Provo-Orem, UT | 40.26 -111.67 | Provo UT 846, Lehi UT 840
  Des Moines-West Des Moines, IA | 41.59 -93.65 | Des Moines IA 503, West Des Moines IA 502
  Knoxville, TN | 35.96 -83.95 | Knoxville TN 379
  Colorado Springs, CO | 38.85 -104.79 | Colorado Springs CO 809
  Urban Honolulu, HI | 21.32 -157.86 | Honolulu HI 968, Kailua HI 967
`);

function readCity(text: string): City {
  const [, name = "", state = "", zipStart = ""] = /^(.+) ([A-Z]{2}) (\d{3})$/.exec(text) ?? [];
  return { name, state, country: "US", zipStart };
}

export const metros: readonly Metro[] = metroRows.map(
  ([title = "", position = "", cities = ""]) => {
    const [latitude = 0, longitude = 0] = position.split(" ").map(Number);
    return { title, latitude, longitude, cities: cities.split(", ").map(readCity) };
  },
);

export const someMetro = weighted(headFirst(metros, 1));

// An area's first city has about half of its addresses.
const cityChoices = new Map(
  metros.map((metro) => [metro, weighted(headFirst(metro.cities, -0.4))]),
);

export const someCity = (random: Random, metro: Metro): City =>
  (cityChoices.get(metro) as (random: Random) => City)(random);

/** Where GPs with names of another language may sit. */
export const citiesAbroad: ReadonlyMap<string, City> = new Map(
  rows(`
    BR | São Paulo
    DE | Frankfurt
    FR | Paris
    JP | Tokyo
    CN | Shanghai
    MX | Mexico City
    SE | Stockholm
    DK | Copenhagen
    PL | Warsaw
    TR | Istanbul
  `).map(([country = "", name = ""]) => [country, { name, state: null, country, zipStart: "" }]),
);
