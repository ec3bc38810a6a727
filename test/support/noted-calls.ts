/** Notes the calls of a storage and of its entries. */
export function withNotedCalls<Target extends object>(target: Target, calls: string[], before = ''): Target {
  return new Proxy(target, {
    get(_target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'entries') return withNotedCalls(value as object, calls, 'entries.');
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        calls.push(before + String(name));
        return Reflect.apply(value, target, given);
      };
    },
  });
}
