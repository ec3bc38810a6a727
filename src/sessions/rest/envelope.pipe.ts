import type { PipeTransform } from '@nestjs/common';
import { getMetadataStorage, validateSync } from 'class-validator';
import { InvalidInputError } from '../domain/errors.js';

/**
 * Checks the outer shape of a body or a query: only known names, each with a value of its kind. What is
 * inside events and states is not touched, since class-transformer would drop keys such as `__proto__`. Parameters that
 * it fills are `Readonly<…>`, which leaves no class at run time for a `ValidationPipe` of the whole app to make first.
 */
export class EnvelopePipe<Envelope extends object> implements PipeTransform<unknown, Envelope> {
  readonly #names: ReadonlySet<string>;

  constructor(private readonly EnvelopeClass: new () => Envelope) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(EnvelopeClass, '', false, false);
    this.#names = new Set(metadata.map(({ propertyName }) => propertyName));
  }

  transform(value: unknown): Envelope {
    const envelope = new this.EnvelopeClass();
    const entries = Object.entries(asObject(value));
    // Everything may be left out, and most requests leave everything out.
    if (entries.length === 0) return envelope;
    for (const [name, content] of entries) {
      if (!this.#names.has(name)) throw new InvalidInputError(`is not known here; known are ${this.#known()}`, name);
      (envelope as Record<string, unknown>)[name] = content;
    }
    const [error] = validateSync(envelope, { stopAtFirstError: true, forbidUnknownValues: false });
    if (!error) return envelope;
    const [problem = 'is wrong'] = Object.values(error.constraints ?? {});
    throw new InvalidInputError(problem.replace(`${error.property} `, ''), error.property);
  }

  #known(): string {
    return [...this.#names].join(', ') || 'none';
  }
}

/** No body at all is an empty one. */
function asObject(value: unknown): object {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw new InvalidInputError('must be a JSON object', 'body');
}
