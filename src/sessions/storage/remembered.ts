/** Where what was found is kept. With a `WeakMap`, it lasts as long as its key. */
interface Known<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/**
 * A function that finds each thing once. In a map, it keeps what it found, so it is for few keys, or for as long as one list.
 *
 * @example const stateOf = remembered((userId: string) => shared.get({ appName, userId }));
 */
export function remembered<Key, Value extends object>(
  find: (key: Key) => Value,
  known: Known<Key, Value> = new Map<Key, Value>(),
): (key: Key) => Value {
  return (key) => {
    let value = known.get(key);
    if (value === undefined) known.set(key, (value = find(key)));
    return value;
  };
}
