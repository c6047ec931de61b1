/** The records as the office sees them: read from the dataset's file by itself, once a page asks for them. */
import type { LoadOrder } from "#datasets/load-worker.ts";
import { loadGeneration } from "#datasets/load.ts";
import { openReadModel, type ReadModel } from "#search/read-model.ts";

interface OwnModel {
  /** Null while there is no dataset, or it cannot be read. */
  model(): ReadModel | null;
  /** Another dataset from now on. */
  show(dataset: LoadOrder | null): void;
}

/**
 * What the HTTP thread has cannot be shared without a copy, which it would have to wait for; and most who visit come
 * for their keys.
 */
export function openOwnModel(complain: (complaint: string) => void): OwnModel {
  let shown: LoadOrder | null = null;
  let model: ReadModel | null = null;
  return {
    model() {
      if (model === null && shown !== null)
        try {
          model = openReadModel(loadGeneration(shown.path, shown.generation));
        } catch (error) {
          complain(`The account pages cannot show the records: ${(error as Error).message}`);
        }
      return model;
    },
    show(dataset) {
      shown = dataset;
      model = null;
    },
  };
}
