/** What is stored of somebody who signed in to a service of a test. */
import { requirePerson } from "#accounts/people.ts";
import { listMemberships, type Membership } from "#accounts/members.ts";
import { type ControlStore, openControl } from "#store/stores.ts";
import type { TestService } from "./service.ts";

export async function withControl<R>(
  { place }: Pick<TestService, "place">,
  work: (control: ControlStore) => Promise<R>,
): Promise<R> {
  const control = await openControl(place.dataDir, place);
  try {
    return await work(control);
  } finally {
    await control.close();
  }
}

/** The first account of the person with this address. */
export const accountOf = (service: Pick<TestService, "place">, address: string) =>
  withControl(service, async ({ database }): Promise<Membership> => {
    const { id } = await requirePerson(database, address);
    return (await listMemberships(database, id))[0]!;
  });
