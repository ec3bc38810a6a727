type Pause = () => Promise<void>;

/** The object, such as a storage, one of whose methods, such as `append` or `transfer.eraseUser`, waits before it runs. */
export function pausedAt<Target extends object>(target: Target, name: string, pause: Pause): Target {
  return paused(target, name, async (call) => {
    await pause();
    return call();
  });
}

/** The same, with a method that has run, and waits before it answers. */
export function pausedAfter<Target extends object>(target: Target, name: string, pause: Pause): Target {
  return paused(target, name, async (call) => {
    const answer = await call();
    await pause();
    return answer;
  });
}

function paused<Target extends object>(
  target: Target,
  name: string,
  around: (call: () => unknown) => Promise<unknown>,
): Target {
  const [first, ...rest] = name.split('.');
  return new Proxy(target, {
    get(_target, property) {
      const value: unknown = Reflect.get(target, property, target);
      if (property === first && typeof value === 'object' && value !== null) {
        return paused(value, rest.join('.'), around);
      }
      if (typeof value !== 'function') return value;
      const call = (given: unknown[]): unknown => Reflect.apply(value, target, given);
      return property === first
        ? (...given: unknown[]) => around(() => call(given))
        : (...given: unknown[]): unknown => call(given);
    },
  });
}
