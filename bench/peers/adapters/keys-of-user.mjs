/** The keys of the user in a state that has all scopes, without their prefix. */
export function keysOfUser(state) {
  const entries = Object.entries(state).filter(([key]) => key.startsWith('user:'));
  return Object.fromEntries(entries.map(([key, value]) => [key.slice('user:'.length), value]));
}
