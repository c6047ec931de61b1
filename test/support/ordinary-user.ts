/** What files tell whoever may not read everything, as root may. */

const nobody = 65_534;

/** Does something as another user where the tests run as root, and as the same one where they do not. */
export async function asOrdinaryUser<R>(act: () => R | Promise<R>): Promise<R> {
  if (process.getuid?.() !== 0) return act();
  process.seteuid!(nobody);
  try {
    return await act();
  } finally {
    process.seteuid!(0);
  }
}
