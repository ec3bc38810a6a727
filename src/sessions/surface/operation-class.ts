import { Inject, type InjectionToken, type Type } from '@nestjs/common';
import type { SessionFilter } from '../domain/submitted-metadata.js';
import { AccessChecks } from '../transport/access-checks.js';
import type { Call, Surface } from './operation.js';

/** A class with this name, whose members are added. */
export function classNamed(name: string): Type<object> {
  // oxlint-disable-next-line typescript/no-extraneous-class -- its members follow from a table
  return { [name]: class {} }[name] as Type<object>;
}

/** What a controller or a resolver of operations has. Nest injects it. */
export type OperationHost = Readonly<Record<string, unknown>> & { readonly access: AccessChecks };

/** A class whose objects get the services of a surface. It has the name of its tag, such as `SessionsController`. */
export function operationClass<Services>(
  kind: 'Controller' | 'Resolver',
  { tag, services }: Surface<Services>,
): Type<object> {
  const OperationClass = classNamed(tag.charAt(0).toUpperCase() + tag.slice(1) + kind);
  const prototype = OperationClass.prototype as object;
  for (const [each, token] of Object.entries<InjectionToken>(services)) Inject(token)(prototype, each);
  Inject(AccessChecks)(prototype, 'access');
  return OperationClass;
}

/** Adds the method of an operation to a class, and returns its descriptor for decorators. */
export function addMethod<Services, Arguments extends readonly unknown[]>(
  OperationClass: Type<object>,
  { services }: Surface<Services>,
  name: string,
  method: (this: OperationHost, ...args: Arguments) => Promise<unknown>,
): PropertyDescriptor {
  // What Nest injects would hide the method, and with it what the access rule is asked.
  if (name === 'access' || name in services) throw new Error(`An operation needs another name than "${name}".`);
  Object.defineProperty(method, 'name', { value: name });
  const descriptor = { value: method, writable: true, configurable: true };
  Object.defineProperty(OperationClass.prototype, name, descriptor);
  return descriptor;
}

/** What an operation is called with beside its request. */
export function callOf<Services>(
  host: OperationHost,
  { services }: Surface<Services>,
  request: unknown,
  within: SessionFilter | undefined,
): Call<Services> {
  const injected = Object.keys(services).map((name) => [name, host[name]] as const);
  return { services: Object.fromEntries(injected) as Services, access: host.access, request, within };
}
