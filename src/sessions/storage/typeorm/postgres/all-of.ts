/** Waits for all, whatever becomes of some; the first that failed tells why the others did. */
export async function allOf<const Promises extends readonly Promise<unknown>[]>(
  promises: Promises,
): Promise<{ -readonly [Place in keyof Promises]: Awaited<Promises[Place]> }> {
  const outcomes = await Promise.allSettled(promises);
  const values = outcomes.map((outcome) => {
    if (outcome.status === 'rejected') throw outcome.reason;
    return outcome.value;
  });
  return values as { -readonly [Place in keyof Promises]: Awaited<Promises[Place]> };
}
