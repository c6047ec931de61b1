/** What is stored of somebody who signed in to a service of a test. */
import { requirePerson } from "#accounts/people.ts";
import { listMemberships, type Membership } from "#accounts/members.ts";
import type { ControlStore } from "#store/stores.ts";
import { useControl } from "./control.ts";
import type { TestService } from "./service.ts";

export const withControl = <R>(
  { place }: Pick<TestService, "place">,
  work: (control: ControlStore) => Promise<R>,
): Promise<R> => useControl(place, work);

/** The first account of the person with this address. */
export const accountOf = (service: Pick<TestService, "place">, address: string) =>
  withControl(service, async ({ database }): Promise<Membership> => {
    const { id } = await requirePerson(database, address);
    return (await listMemberships(database, id))[0]!;
  });
