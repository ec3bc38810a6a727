import type { SessionStorage } from '../../src/sessions/storage/session-storage.js';

/** A storage that records the names of its calls, including those of leases and agenda. */
export function recordingCalls(storage: SessionStorage, calls: string[]): SessionStorage {
  const leases = recorded(storage.leases, (name) => calls.push(`leases.${name}`));
  const agenda = recorded(storage.agenda, (name) => calls.push(`agenda.${name}`));
  return recorded(storage, (name) => calls.push(name), { leases, agenda });
}

function recorded<Port extends object>(port: Port, note: (name: string) => void, parts: Partial<Port> = {}): Port {
  return new Proxy(port, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (Object.hasOwn(parts, name)) return Reflect.get(parts, name) as unknown;
      if (typeof value !== 'function') return value;
      const method = value.bind(target) as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        note(String(name));
        return method(...args);
      };
    },
  });
}
