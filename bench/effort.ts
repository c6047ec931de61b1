/** How much is measured: enough for one's own work, or for a table that is published. */

export interface Effort {
  /** Rounds in which all servers are asked in turn: many short ones tell more than a few long ones on a busy machine. */
  rounds: number;
  /** Requests of one visit; a quarter of it where answers are made anew. */
  perVisit: number;
  /** Requests before the first round, the mix several times. V8 needs as many until all of Fastify's path is compiled. */
  warmUp: number;
  /** Starts of the program, and imports. */
  repeats: number;
  stepRounds: number;
  /** Rounds of a few seconds for the rows that compare waiting times. */
  waitRounds: number;
}

export const thorough: Effort = {
  rounds: 25,
  perVisit: 4000,
  warmUp: 60_000,
  repeats: 5,
  stepRounds: 15,
  waitRounds: 5,
};

export const quick: Effort = {
  rounds: 9,
  perVisit: 3000,
  warmUp: 40_000,
  repeats: 2,
  stepRounds: 5,
  waitRounds: 2,
};
