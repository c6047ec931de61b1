/** Words that names of GPs, projects and streets are put together from. */
import { phrases, rows, words } from "./lists.ts";

export const compoundHeads = words(`
  North Stone River Oak West Clear Bright Cedar Harbor Iron South East Silver Copper Summer Lake
  Green Long Wind Winter Mill Birch Elm Fox Hawk Wolf Deer Sand Salt Glen Kings Queens Moss
  Thorn Wild Rose Hazel Marsh Bay Cloud Ember Flint Frost Heath Juniper Linden Meadow Raven
`);
export const compoundTails = words(`
  wind gate ridge bridge crest haven mark water ford side mere dale wick hollow hill shore spring
  well bury line path way more leaf moor bank combe croft holm keep reach lark cairn fen row
`);

export const colours = words(`
  Blue Red Green White Grey Silver Golden Copper Black Amber Crimson Indigo Scarlet Bronze Ivory
`);
export const trees = words(`
  Alder Ash Aspen Beech Birch Cedar Chestnut Cottonwood Cypress Dogwood Elm Fir Hawthorn Hazel
  Hemlock Hickory Holly Juniper Laurel Linden Live-Oak Locust Magnolia Maple Mesquite Mulberry Oak
  Olive Palm Pecan Persimmon Pine Poplar Redbud Rowan Sassafras Sequoia Spruce Sweetgum Sycamore
  Tamarack Tupelo Walnut Willow Yew
`).map((tree) => tree.replace("-", " "));
export const animals = words(`
  Badger Bear Beaver Bison Bobcat Buck Condor Coyote Crane Dolphin Eagle Egret Elk Falcon Finch
  Fox Hare Hawk Heron Ibis Jackal Kestrel Kingfisher Lark Lion Lynx Marlin Marten Moose Mustang
  Osprey Otter Owl Panther Pelican Pheasant Plover Puma Quail Ram Raven Robin Salmon Seal Sparrow
  Stag Starling Stork Sturgeon Swan Swift Tern Trout Wolf Wren
`);
export const landforms = words(`
  Bay Bend Bluff Brook Canyon Cape Cove Creek Crossing Delta Falls Fork Glen Grove Harbor Hill
  Hollow Island Lake Landing Meadow Mesa Park Pass Point Pond Prairie Ranch Ridge River Rock Run
  Shore Spring Station Summit Trace Valley View Vista Woods
`);
export const regions = phrases(`
  Adirondack | Allegheny | Appalachian | Bayou | Berkshire | Blue Ridge | Cascade | Catskill
  Chesapeake | Delta | Gulf Coast | Hill Country | Hudson | Lakeshore | Lowcountry | Mesa | Mohawk
  Monongahela | Mountain West | Olympic | Ozark | Pacific | Palisade | Palmetto | Piedmont | Potomac
  Prairie | Puget | Rio Grande | Sandhills | Shenandoah | Sierra | Sonoran | Southeast | Steel City
  Sun Coast | Sun Belt | Tidewater | Twin Rivers | Wasatch | Willamette
`);
export const singles = phrases(`
  Anchor | Apex | Arbor | Arch | Beacon | Bedrock | Bell Tower | Cardinal | Chapter | Citadel | Compass
  Cornice | Cornerstone | Crown | Evergreen | Foundry | Gable | Gateway | Granite | Hearth | Heritage
  Horizon | Keystone | Landmark | Lantern | Legacy | Liberty | Lighthouse | Longview | Mariner | Meridian
  Monarch | Northern Light | Orchard | Parallel | Patriot | Pilgrim | Pillar | Pinnacle | Plumb Line
  Polaris | Quarry | Rampart | Sextant | Signal | Skyline | Solstice | Summit | Sundial | Tandem | Terrace
  Threshold | Trellis | True North | Union | Vanguard Hill | Vertex | Voyager | Wharf | Zenith
`);
export const numerals = words("I II III IV V VI VII VIII IX X XI XII");
/** What follows a number in names such as `Pier 9`, and what stands before it. */
export const afterNumbers = words("Street Avenue Acres Degrees Oaks Rivers Peaks Corners");
export const beforeNumbers = words("Pier Route Highway Section Block Parcel Gate Track");
export const ordinals = words("First Second Third Fourth Fifth Sixth Seventh Eighth Ninth Tenth");

export const streets = phrases(`
  Main | Oak | Maple | Park | Washington | Lake | Hill | Church | Market | Broad | Water | River | Spring
  Cedar | Elm | Pine | Walnut | Chestnut | Mill | Union | Franklin | Jackson | Lincoln | Jefferson | Madison
  Highland | Prospect | Railroad | Center | Congress | Commerce | Industrial | Harbor | Liberty | State
  Court | Front | Ridge | Sunset | Valley View | College | University | Airport | Canal | Canyon | Grove
  Juniper | Laurel | Magnolia | Meadow | Orchard | Peachtree | Poplar | Quarry | Shore | Summit | Sycamore
  Tulip | Vine | Willow | Winding Creek | Old Post | County Line
`);
export const streetEnds = phrases("St | Ave | Rd | Blvd | Dr | Ln | Way | Pkwy | Ct | Pl | Ter");
export const quarters = phrases(`
  Mueller | Midtown | Riverside | Uptown | Harbor Point | Old Mill | Union Yards | Eastside | Westgate
  Northpark | Southlake | The Domain | Waterfront | Cannery Row | Depot Square | Foundry Park | Arts District
  Garden Quarter | Highland Park | Lakeview | Market Square | Medical District | Mill Creek | Mission Bay
  Museum Row | Navy Yard | Orchard Park | Pearl | Prairie Crossing | Quarry Hill | Railyard | Sawmill
  Seaport | South End | Stadium District | Station Park | Stonegate | The Heights | University Park
  Warehouse District | West Loop | Wicker Square | Windsor Park | Woodlawn
`);

/** Country, then how names there end, then names. */
export const namesAbroad = rows(`
  FR | Immobilier, Gestion, Partners, Capital | Société Beaumont, Société Foncière Delacroix, Groupe Lémery, Hôtelière Saint-Rémy, Valéry & Fils, Maison Étoile
  DE | Grundbesitz, Immobilien, Partners, Capital | Müller, Schröder, Grünwald, Königsfeld, Lübbering, Böhme & Söhne, Weißenthal
  SE | Fastigheter, Partners, Capital, Invest | Åkerström, Sjöberg, Öhlund, Västerlund, Björkdal, Ängsholm
  DK | Ejendomme, Partners, Invest | Søndergård, Østbro, Kjærholm, Lyngsø
  BR | Participações, Imobiliária, Partners | São Bento, Conceição, Araújo & Irmãos, Guimarães, Ipê Amarelo
  MX | Inmobiliaria, Capital, Desarrollos | Peña Alta, Ibáñez, Núñez y Vega, El Rincón, Cañada Real, Ríos del Sur
  PL | Nieruchomości, Partners | Łukasik, Śliwa, Żuraw, Wiśniowa
  TR | Gayrimenkul, Yatırım, Partners | Yıldırım, Çınar, Gümüş, Işıklar
`);

/** Country, ends and names with their spelling in Latin letters, for aliases and addresses. */
export const namesInOtherScripts = rows(`
  JP | 不動産=Real Estate, キャピタル=Capital, アセットマネジメント=Asset Management, 都市開発=Urban Development | 青松=Aomatsu, 若竹=Wakatake, 朝霧=Asagiri, 星見=Hoshimi, 白樺=Shirakaba, 桜丘=Sakuraoka, みなと橋=Minatobashi
  CN | 置业=Properties, 资本=Capital, 地产投资=Real Estate Investment | 云岭=Yunling, 瑞庭=Ruiting, 锦禾=Jinhe, 松涛=Songtao
`);
