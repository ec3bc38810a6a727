/** Like an assignment, but a field named `__proto__` is a field. */
export function setField(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
}
