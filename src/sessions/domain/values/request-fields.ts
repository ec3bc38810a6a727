import { similarNames } from '../../../config/near-miss.js';
import { InvalidInputError } from '../errors/errors.js';
import { noted } from '../errors/nested-failures.js';

/** Returns the request; refuses a call without one, which plain JavaScript allows. */
export function requireRequest<Request extends object>(
  request: Request,
  path = 'request',
  example = 'appName, userId, sessionId',
): Request {
  if (typeof request === 'object' && request !== null) return request;
  throw new InvalidInputError(`must be an object, such as { ${example} }`, path);
}

/** The same for the options of a class. */
export function requireOptionsOf<Options extends object>(owner: string, options: Options, example: string): Options {
  return requireRequest(options, `options of ${owner}`, example);
}

/** Refuses fields that would have no effect, such as a misspelled one. */
export function assertFieldNames<Request extends object>(
  request: Request,
  known: Readonly<Record<keyof Request, true>>,
): void {
  const names = Object.keys(known);
  const unknown = Object.keys(request).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const [meant] = similarNames(unknown, names);
  const all = `there are ${names.join(', ')}`;
  throw new InvalidInputError(
    `is no field; ${meant === undefined ? all : `did you mean ${meant}? T${all.slice(1)}`}`,
    unknown,
  );
}

/** All fields of a request: without one of them, it does not compile. */
export type FieldNames<Request> = Readonly<Record<keyof Required<Request>, true>>;

/**
 * Names the fields of a request.
 *
 * @example fieldNames<SessionKey>({ appName: true, userId: true, sessionId: true });
 */
export function fieldNames<Request>(names: FieldNames<Request>): readonly string[] {
  return Object.keys(names);
}

/**
 * Refuses a field that is one of the known ones in another spelling: it would have no effect. Others may be there, as the object may be
 * one of the app that has more.
 *
 * @param of what the known fields are of, for the message
 */
export function refuseMisspelled(given: object, known: readonly string[], of: string, path = ''): void {
  for (const name in given) {
    if (known.includes(name)) continue;
    const meant = similarNames(name, known).find((each) => !(each in given));
    if (meant !== undefined) throw new InvalidInputError(`is no field of ${of}; did you mean ${meant}?`, path + name);
  }
}

/**
 * Makes the check of the requests of a class, by its methods: it returns the request, and refuses a field that is one of the method's in
 * another spelling.
 *
 * @example
 * const checked = requestCheck({ open: fieldNames<OpenRequest>({ id: true, title: true }) });
 * checked('open', { id: 'a', titel: 'Hi' }); // throws: `did you mean title?`
 */
export function requestCheck<Method extends string>(fields: Readonly<Record<Method, readonly string[]>>) {
  return <Request extends object>(method: Method, request: Request): Request => {
    try {
      refuseMisspelled(requireRequest(request), fields[method], method);
    } catch (error) {
      throw noted(error);
    }
    return request;
  };
}
