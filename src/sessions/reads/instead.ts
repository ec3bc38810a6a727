/** An object with some other parts. Its methods keep their object, which has parts that nobody else may see. */
export function instead<Target extends object>(target: Target, parts: Partial<Target>): Target {
  return new Proxy(target, {
    get(_target, name) {
      if (Object.hasOwn(parts, name)) return Reflect.get(parts, name);
      const part: unknown = Reflect.get(target, name, target);
      return typeof part === 'function' ? (part.bind(target) as unknown) : part;
    },
  });
}
