/** First and last names, as varied as the people of the business. */
import { phrases, words } from "./lists.ts";

export const firstNames = words(`
  James John Robert Michael William David Richard Joseph Thomas Charles Christopher Daniel Matthew
  Anthony Mark Steven Andrew Paul Joshua Kenneth Kevin Brian George Edward Ronald Timothy Jason
  Jeffrey Ryan Jacob Gary Nicholas Eric Jonathan Stephen Larry Justin Scott Brandon Benjamin Samuel
  Gregory Patrick Alexander Jack Dennis Peter Adam Nathan Henry Douglas Zachary Kyle Noah Ethan
  Mary Patricia Jennifer Linda Elizabeth Barbara Susan Jessica Sarah Karen Lisa Nancy Sandra Ashley
  Emily Kimberly Margaret Donna Michelle Carol Amanda Melissa Deborah Stephanie Rebecca Laura Sharon
  Cynthia Kathleen Amy Angela Anna Brenda Pamela Nicole Katherine Samantha Christine Rachel Maria
  Heather Diane Julie Victoria Kelly Lauren Olivia Megan Andrea Hannah Jacqueline Martha Madison
  José Juan Luis Carlos Jesús Miguel Ángel Sofía Lucía Valentina Inés Andrés Joaquín Beatriz Raúl
  Wei Ming Li Jing Xiu Hao Mei Jun Yan Hiroshi Kenji Yuki Akiko Haruto Naoko Min-jun Seo-yeon Ji-woo
  Arjun Priya Rahul Ananya Vikram Neha Sanjay Kavita Rohan Deepa Imran Aisha Omar Fatima Yusuf Leila
  Amir Noor Tariq Zainab Kwame Chidi Ngozi Amara Kofi Ade Abena Tunde Oluwaseun Thandiwe Malik Imani
  Giulia Marco Chiara Luca Élodie François Chloé Benoît Jürgen Björn Åsa Søren Ingrid Lars Zoë Siobhán
  Pádraig Niamh Agnieszka Łukasz Katarzyna Dmitri Olga Ivan Svetlana Bálint Zsófia Nikos Eleni Ayşe
  Mehmet Ariel Moshe Talia Yael Eitan Thuy Minh Linh Quang Kalani Leilani Dakota Jean-Luc Anne-Marie
`);
export const lastNames = phrases(`
  Smith|Johnson|Williams|Brown|Jones|Garcia|Miller|Davis|Rodriguez|Martinez|Hernandez|Lopez|Wilson
  Anderson|Thomas|Taylor|Moore|Jackson|Martin|Lee|Perez|Thompson|White|Harris|Sanchez|Clark|Ramirez
  Lewis|Robinson|Walker|Young|Allen|King|Wright|Scott|Torres|Nguyen|Hill|Flores|Green|Adams|Nelson
  Baker|Hall|Rivera|Campbell|Mitchell|Carter|Roberts|Gomez|Phillips|Evans|Turner|Diaz|Parker|Cruz
  Edwards|Collins|Reyes|Stewart|Morris|Morales|Murphy|Cook|Rogers|Gutierrez|Ortiz|Morgan|Cooper
  Peterson|Bailey|Reed|Kelly|Howard|Ramos|Kim|Cox|Ward|Richardson|Watson|Brooks|Chavez|Wood|Bennett
  Gray|Mendoza|Ruiz|Hughes|Price|Alvarez|Castillo|Sanders|Patel|Myers|Long|Ross|Foster|Jimenez
  O'Brien|O'Connor|O'Malley|O'Neill|D'Angelo|D'Amico|McAllister|McCarthy|MacLeod|Fitzgerald|St. Clair
  Cohen|Levin|Goldfarb|Rosenblatt|Shapiro|Weiss|Katz|Feldman|Abramowitz|Zimmerman|Schwarz|Kessler
  Müller|Schröder|Köhler|Jäger|Weiß|Lindqvist|Åkerström|Sjöberg|Sørensen|Nygård|Bjørnstad|Halvorsen
  Dubois|Lefèvre|Beauséjour|Rousseau|Chénier|de la Cruz|van der Berg|van Dijk|Di Marco|Esposito|Ricci
  Ferrari|Colombo|Silva|Araújo|Gonçalves|Conceição|Núñez|Ibáñez|Peña|Muñoz|Velázquez|Márquez|Ocampo
  Wang|Zhang|Liu|Chen|Huang|Zhao|Wu|Zhou|Lin|Tanaka|Suzuki|Watanabe|Yamamoto|Nakamura|Kobayashi|Park
  Choi|Jung|Kang|Yoon|Singh|Gupta|Sharma|Mehta|Iyer|Reddy|Krishnan|Banerjee|Chatterjee|Khan|Ahmed
  Hussain|Rahman|Al-Sayed|Haddad|Mansour|Nasser|Farouk|Tehrani|Karimi|Yılmaz|Çelik|Demir|Petrov
  Ivanova|Sokolov|Kowalski|Wiśniewski|Łukasik|Novák|Dvořák|Horváth|Szabó|Popescu|Papadopoulos
  Okafor|Adeyemi|Mensah|Owusu|Diallo|Traoré|Abebe|Tesfaye|Mwangi|Nkosi|Dlamini|Baptiste|Toussaint
  Tran|Pham|Vo|Dang|Santos|Dela Rosa|Bautista|Kahananui|Begay|Whitehorse|Calloway|Whitlock|Hale
  Ashcroft|Winslow|Thornbury|Hollis|Penhallow|Carmody|Loxley|Merriweather|Pemberton|Stratton|Tolliver
  Vance|Yarbrough|Blackwood|Sinclair|Abernathy|Lockhart|Prescott|Sutherland|Kimball|Rutledge|Haskins
`);
/** Surnames that firms are called after in this world. */
export const firmSurnames = phrases(`
  Abernathy|Ashcroft|Barlow|Beckett|Calloway|Carmody|Castellan|Cobb|Colburn|Cortland|Dalrymple|Danforth
  Delaney|Draper|Eastman|Ellery|Fairbairn|Farrow|Fenwick|Garrick|Gentry|Hadley|Hale|Halloran|Harkness
  Hathaway|Holloway|Ingram|Jessup|Keating|Kilbride|Kimball|Lathrop|Ledger|Lockhart|Loxley|MacAuley
  Marbury|McCandless|Merriweather|Montrose|Nettleton|O'Malley|O'Rourke|Orr|Pemberton|Penhallow|Prescott
  Quimby|Radcliff|Ransom|Rutledge|Sefton|Sinclair|Stratton|Sutherland|Talbot|Tennant|Thornbury|Tolliver
  Underhill|Vance|Vandermeer|Wadsworth|Wexler|Whitcomb|Whitlock|Winslow|Wyndham|Yarbrough|D'Arcy|St. James
`);
