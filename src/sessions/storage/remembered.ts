/**
 * A function that finds each thing once. It keeps what it found, so it is for few keys, or for as long as one list.
 *
 * @example const stateOf = remembered((userId: string) => shared.get({ appName, userId }));
 */
export function remembered<Key, Value extends object>(find: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>();
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = find(key)));
    return value;
  };
}
