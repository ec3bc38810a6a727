import { BoundedMap } from './bounded-map.js';

/**
 * Remembers the values that were used last.
 *
 * @example const known = new Recent<Session>(200);
 */
export class Recent<Value> extends BoundedMap<Value> {
  override get(key: string): Value | undefined {
    const value = super.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }
}
