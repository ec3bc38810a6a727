import type { Type } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { Allow, IsBoolean, IsDefined, IsIn, IsInt, IsOptional, IsString, Matches, Max, Min } from 'class-validator';
import { remembered } from '../storage/remembered.js';
import { classNamed } from '../surface/operation-class.js';
import { type Field, type Fields, type Shape, fieldsOn, isShape } from '../surface/shape.js';

/** A body, or a query, where all values arrive as text. */
export type Place = 'body' | 'query';

/** The class that describes a shape in OpenAPI, always the same one. */
export const dtoOf = remembered(({ name, description, example, isOpen = false, fields }: Shape): Type<object> => {
  const Dto = classNamed(name);
  const about = { name, description, example, additionalProperties: isOpen };
  ApiSchema(about)(Dto);
  describeFields(Dto, fields);
  return Dto;
});

/** The class that describes and checks the fields of a request. */
export function requestDto(fields: Fields, place: Place, about?: Omit<Shape, 'fields'>): Type<object> {
  const Dto = classNamed(about?.name ?? 'Query');
  if (about) ApiSchema({ ...about, additionalProperties: false } as Parameters<typeof ApiSchema>[0])(Dto);
  describeFields(Dto, fields);
  for (const [name, field] of fieldsOn('rest', fields)) {
    for (const check of checksOf(field, place)) check(Dto.prototype as object, name);
  }
  return Dto;
}

function describeFields(Dto: Type, fields: Fields): void {
  const prototype = Dto.prototype as object;
  for (const [name, field] of fieldsOn('rest', fields)) {
    // What the compiler writes for a decorated property; without it, Swagger takes it for a cycle.
    Reflect.defineMetadata('design:type', Object, prototype, name);
    const { kind, of, isOptional = false } = field;
    // A shape describes itself, where GraphQL only has JSON.
    const description = kind === 'json' && of ? undefined : field.description;
    const schema = describeField(field);
    // A JSON Schema has a `required` of its own.
    const required = Array.isArray(schema.required) ? { selfRequired: !isOptional } : { required: !isOptional };
    ApiProperty({ ...schema, ...(description !== undefined && { description }), ...required })(prototype, name);
  }
}

type Described = Record<string, unknown>;

function describeField({ kind, schema, of, choice }: Field): Described {
  if (kind === 'choice' && choice) {
    const { name: enumName, values, description } = choice;
    return { enumName, enum: [...values], enumSchema: { description }, ...schema };
  }
  if (kind === 'list' && of && !('items' in schema)) {
    return isShape(of) ? { type: () => [dtoOf(of)], ...schema } : listSchema(of, schema);
  }
  if (of && isShape(of)) return { type: () => dtoOf(of), ...schema };
  const type = { text: 'string', integer: 'integer', number: 'number', flag: 'boolean', list: 'array' };
  return { ...(kind in type && { type: type[kind as keyof typeof type] }), ...schema };
}

function listSchema(of: Field, schema: Field['schema']): Described {
  if (of.of && isShape(of.of)) {
    const shape = of.of;
    return { type: () => [dtoOf(shape)], ...schema };
  }
  const { type, ...rest } = describeField(of);
  return { type: 'array', items: { type, ...rest }, ...schema };
}

const isText = Matches(/^\d{1,15}$/, { message: 'must be a whole number' });
const isFlagText = IsIn(['true', 'false'], { message: 'must be true or false' });

/** What is checked before the rules of sessions see it. */
function checksOf({ kind, schema, choice, isOptional, isCheckedLater }: Field, place: Place): PropertyDecorator[] {
  const { minimum, maximum } = schema as { readonly minimum?: number; readonly maximum?: number };
  const ofKind: Partial<Record<Field['kind'], readonly PropertyDecorator[]>> = {
    text: [IsString()],
    choice: [IsIn([...(choice?.values ?? [])])],
    ...(place === 'query'
      ? { integer: [isText], flag: [isFlagText] }
      : {
          flag: [IsBoolean()],
          integer: [
            IsInt(),
            ...(minimum === undefined || isCheckedLater ? [] : [Min(minimum)]),
            ...(maximum === undefined || isCheckedLater ? [] : [Max(maximum)]),
          ],
        }),
  };
  const checks = ofKind[kind] ?? [isOptional || kind === 'list' ? Allow() : IsDefined()];
  return isOptional ? [IsOptional(), ...checks] : [...checks];
}
