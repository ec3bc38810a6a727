/**
 * The names of the methods of a class, with those that it inherits.
 * @example methodsOf(SessionService); // ['createSession', …, 'listApps', …]
 */
export function methodsOf(Class: abstract new (...args: never[]) => object): string[] {
  const names = new Set<string>();
  let prototype = Class.prototype as object;
  while (prototype !== Object.prototype) {
    for (const name of Object.getOwnPropertyNames(prototype)) names.add(name);
    prototype = Object.getPrototypeOf(prototype) as object;
  }
  names.delete('constructor');
  return [...names];
}
