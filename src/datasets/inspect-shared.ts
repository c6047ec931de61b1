/** What can be seen of shared datasets without a folder and without changing anything. */
import { connectPostgres } from "#store/postgres.ts";
import { DatasetFault } from "./dataset-fault.ts";
import { findImporter } from "./import-lock.ts";
import { openInstances, type SeenInstance } from "./instances.ts";
import { ownFormat, type SharedGeneration, type SharedState } from "./remote.ts";
import { readShared } from "./shared-rows.ts";
import { datasetFile, partLimits, storedParts } from "./stored-parts.ts";

interface SharedInspection {
  state: SharedState;
  /** Faults of the stored files that were read. */
  damage: readonly { version: string; fault: string }[];
  instances: readonly SeenInstance[];
  /** Who imports or publishes at the moment. */
  importer: string | null;
  /** What this program can read. */
  ownFormat: string;
}

/**
 * @param url `DATABASE_URL`. @param isThorough reads the files of all datasets, and not of the current one alone.
 * @throws StoreFault where the database cannot be read.
 */
export async function inspectShared(url: string, isThorough: boolean): Promise<SharedInspection> {
  const session = await connectPostgres({ url }, { limits: partLimits });
  const faultOf = async (generation: SharedGeneration) => {
    try {
      for await (const _ of storedParts(session, datasetFile(generation)));
      return [];
    } catch (error) {
      if (!(error instanceof DatasetFault)) throw error;
      return [{ version: generation.version, fault: error.message }];
    }
  };
  try {
    const state = await readShared(session);
    const read = isThorough ? state.generations : [state.current].filter((one) => one !== null);
    const damage: { version: string; fault: string }[] = [];
    for (const generation of read) damage.push(...(await faultOf(generation)));
    const instances = await openInstances(session).list();
    return { state, damage, instances, importer: await findImporter(session), ownFormat };
  } finally {
    session.close();
  }
}
