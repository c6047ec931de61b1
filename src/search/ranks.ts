/** How well a name answers to a query, best first; a GP has the rank of the best of its names. */
export const ranks = { equal: 0, begins: 1, startOfWord: 2, insideWord: 3, apart: 4 } as const;
export type Rank = (typeof ranks)[keyof typeof ranks];
export const rankCount = 5;
