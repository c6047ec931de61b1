/** An address that cannot be listened on, with the setting that names it. */

export class ListenFault extends Error {
  readonly setting: string;
  readonly place: { host: string; port: number };

  constructor(setting: string, place: ListenFault["place"], cause: unknown) {
    super(`${setting} cannot be listened on`, { cause });
    this.name = "ListenFault";
    this.setting = setting;
    this.place = place;
  }
}
