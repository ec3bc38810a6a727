import { Inject, type InjectionToken, type Type } from '@nestjs/common';
import { AccessChecks } from '../transport/access-checks.js';
import type { Surface } from './operation.js';

/** A class with this name, whose members are added. */
export function classNamed(name: string): Type<object> {
  // oxlint-disable-next-line typescript/no-extraneous-class -- its members follow from a table
  return { [name]: class {} }[name] as Type<object>;
}

/** What a controller or a resolver of operations has: the services, by name. Nest injects it. */
export type OperationHost<Services> = Services & { readonly access: AccessChecks };

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
  method: (this: OperationHost<Services>, ...args: Arguments) => Promise<unknown>,
): PropertyDescriptor {
  // What Nest injects would hide the method, and with it what the access rule is asked.
  if (name === 'access' || name in services) throw new Error(`An operation needs another name than "${name}".`);
  Object.defineProperty(method, 'name', { value: name });
  const descriptor = { value: method, writable: true, configurable: true };
  Object.defineProperty(OperationClass.prototype, name, descriptor);
  return descriptor;
}
