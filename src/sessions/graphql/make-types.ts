import type { Type } from '@nestjs/common';
import {
  ArgsType,
  Field,
  type FieldOptions,
  Float,
  InputType,
  Int,
  ObjectType,
  registerEnumType,
} from '@nestjs/graphql';
import { MAX_LIMIT } from '../domain/values/paging.js';
import { remembered } from '../storage/remembered.js';
import { classNamed } from '../surface/operation-class.js';
import { type Operation, idsIn } from '../surface/operation.js';
import {
  type Choice,
  type Field as FieldOf,
  type Fields,
  type Shape,
  fieldsOn,
  flag,
  integer,
  isShape,
  one,
  optional,
  text,
} from '../surface/shape.js';
import { JSON_SCALAR, SAFE_INT_SCALAR } from './scalars.js';

type GraphqlType = object;
type Make = (shape: Shape) => Type;

/** The page info of all pages. */
const PAGE_INFO: Shape = {
  name: 'PageInfo',
  fields: {
    hasNextPage: flag(),
    endCursor: optional(text('Pass it as `after`. Null on the last page.')),
  },
};

/** The type of a result, always the same one: a schema has one of each name. A page has `nodes` and `pageInfo` beside its other fields. */
export const objectTypeOf = remembered((shape: Shape): Type => {
  const { name, graphqlName = name, description } = shape;
  const ResultType = classNamed(graphqlName);
  addFields(ResultType, shape.items === undefined ? shape.fields : pageFields(shape), objectTypeOf);
  ObjectType(graphqlName, { description })(ResultType);
  return ResultType;
});

const inputTypeOf = remembered(({ name, description, fields }: Shape): Type => {
  const Input = classNamed(name);
  addFields(Input, fields, inputTypeOf);
  InputType(name, { description })(Input);
  return Input;
});

const enumOf = remembered(({ name, description, values }: Choice): Readonly<Record<string, string>> => {
  const byName = Object.fromEntries(values.map((value) => [enumName(value), value]));
  registerEnumType(byName, { name, description });
  return byName;
});

/** The arguments of an operation: its ids, the fields of its request, and its conditions. */
export function argumentsType(
  operation: Pick<Operation<never>, 'ids' | 'route' | 'request' | 'keepsVersion' | 'turn'>,
): Type {
  const { ids, route, request = {}, keepsVersion = false, turn } = operation;
  const names = ids ?? (route ? idsIn(route) : []);
  const keys = Object.fromEntries(names.map((name) => [name, text()]));
  const Arguments = classNamed('Arguments');
  addFields(
    Arguments,
    {
      ...keys,
      ...Object.fromEntries(fieldsOn('graphql', request).map(asArgument)),
      ...(keepsVersion && { expectedVersion: CONDITIONS.expectedVersion }),
      ...(turn === 'its own' && { token: text() }),
      ...((turn === 'in' || turn === 'in or ending') && { turn: CONDITIONS.turn }),
      ...(turn === 'in or ending' && { endTurn: CONDITIONS.endTurn }),
    },
    inputTypeOf,
  );
  ArgsType()(Arguments);
  return Arguments;
}

const CONDITIONS = {
  expectedVersion: optional(integer('Refused if the session is not at this version.')),
  turn: optional(text('The token of a turn. Refused if the turn is over.')),
  endTurn: optional(flag('Ends the turn with this write.')),
} satisfies Fields;

/** Paging has other names in GraphQL. */
function asArgument([name, field]: [string, FieldOf]): [string, FieldOf] {
  if (name === 'limit') return ['first', { ...field, description: `At most ${most(field)}.` }];
  if (name === 'cursor') return ['after', { ...field, description: undefined }];
  return [name, field];
}

function most({ schema: { maximum = MAX_LIMIT } }: FieldOf): string {
  return Number(maximum).toLocaleString('en');
}

function pageFields({ items = '', fields }: Shape): Fields {
  const { [items]: listed, nodes = listed, nextCursor: _inPageInfo, ...others } = fields;
  return {
    ...others,
    ...(nodes && { nodes: { ...nodes, only: 'graphql', description: undefined } }),
    pageInfo: one(PAGE_INFO),
  };
}

function addFields(Owner: Type, fields: Fields, typeOfShape: Make): void {
  for (const [name, field] of fieldsOn('graphql', fields)) {
    const { description, isOptional = false, int32, of } = field;
    const hasGaps = field.kind === 'list' && of !== undefined && !isShape(of) && of.isOptional === true;
    const options: FieldOptions = {
      ...(description !== undefined && { description }),
      nullable: hasGaps ? 'items' : isOptional,
      ...(int32?.default !== undefined && { defaultValue: int32.default }),
    };
    // Made now: a type that is made while Nest builds the schema is not in it.
    const type = typeOfField(field, typeOfShape) as Type;
    Field(() => type, options)(Owner.prototype as object, name);
  }
}

/** The type of a field of a result. */
export function resultTypeOf(result: Shape | FieldOf | undefined): GraphqlType {
  if (result === undefined) return Boolean;
  return isShape(result) ? objectTypeOf(result) : typeOfField(result, objectTypeOf);
}

function typeOfField({ kind, of, choice, int32 }: FieldOf, typeOfShape: Make): GraphqlType {
  switch (kind) {
    case 'text':
      return String;
    case 'flag':
      return Boolean;
    case 'number':
      return Float;
    case 'integer':
      return int32 ? Int : SAFE_INT_SCALAR;
    case 'choice':
      return choice ? enumOf(choice) : String;
    case 'list':
      return [of === undefined ? JSON_SCALAR : isShape(of) ? typeOfShape(of) : typeOfField(of, typeOfShape)];
    case 'shape':
      return of && isShape(of) ? typeOfShape(of) : JSON_SCALAR;
    case 'json':
      return JSON_SCALAR;
  }
}

function enumName(value: string): string {
  return value.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}
