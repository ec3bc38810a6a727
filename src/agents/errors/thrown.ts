/** What was thrown, as something that can be read: anything may be thrown, also nothing, and what fails when it is looked at. */
export function readable(thrown: unknown): unknown {
  if (thrown === undefined) return new Error('undefined was thrown.');
  try {
    // A proxy may refuse even that.
    Object.getPrototypeOf(thrown);
    return thrown;
  } catch {
    return new Error('What was thrown cannot be read.');
  }
}
