import type { PipeTransform } from '@nestjs/common';
import { type ValidationError, getMetadataStorage, validateSync } from 'class-validator';
import { InvalidInputError } from '../domain/errors/errors.js';

/**
 * Validates the names and types of a body or a query. It leaves the content of events and states alone, since class-transformer
 * drops keys such as `__proto__`. Its parameters have the type `Readonly<…>`, which has no class at run time, so a global
 * `ValidationPipe` ignores them.
 */
export class DtoPipe<Dto extends object> implements PipeTransform<unknown, Dto> {
  readonly #names: ReadonlySet<string>;
  /** Whether it is valid without any name. */
  readonly #mayBeEmpty: boolean;

  constructor(private readonly DtoClass: new () => Dto) {
    const metadata = getMetadataStorage().getTargetValidationMetadatas(DtoClass, '', false, false);
    this.#names = new Set(metadata.map(({ propertyName }) => propertyName));
    this.#mayBeEmpty = findValidationError(new DtoClass()) === undefined;
  }

  transform(value: unknown): Dto {
    const dto = new this.DtoClass();
    const entries = Object.entries(asObject(value));
    // A shortcut: most requests have no parameters.
    if (entries.length === 0 && this.#mayBeEmpty) return dto;
    for (const [name, content] of entries) {
      if (!this.#names.has(name)) throw new InvalidInputError(`is not known here; known are ${this.#known()}`, name);
      (dto as Record<string, unknown>)[name] = content;
    }
    const error = findValidationError(dto);
    if (!error) return dto;
    const { property, constraints, value: given } = error;
    if (given === undefined || given === null) throw new InvalidInputError('is missing', property);
    const [problem = 'is wrong'] = Object.values(constraints ?? {});
    throw new InvalidInputError(problem.replace(`${property} `, ''), property);
  }

  #known(): string {
    return [...this.#names].join(', ') || 'none';
  }
}

function findValidationError(dto: object): ValidationError | undefined {
  return validateSync(dto, { stopAtFirstError: true, forbidUnknownValues: false })[0];
}

/** A missing body counts as empty. */
function asObject(value: unknown): object {
  if (value === undefined || value === null || value === '') return {};
  if (typeof value === 'object' && !Array.isArray(value)) return value;
  throw new InvalidInputError('must be a JSON object', 'body');
}
