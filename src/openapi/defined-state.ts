import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { MODULE_OPTIONS_TOKEN, type SessionsModuleOptions } from '../sessions/module/sessions-module-options.js';
import { StateDefinition } from '../state/define-state.js';

type Schemas = NonNullable<NonNullable<OpenAPIObject['components']>['schemas']>;
type Described = Readonly<Record<string, unknown>>;

/** The fields of bodies and answers that hold state. Other keys stay allowed in them: those of shared state have no prefix. */
const FIELDS_WITH_STATE: ReadonlySet<string> = new Set(['state', 'stateDelta']);

/** The document, with the keys and values that the app has defined by `defineState`. */
export function withDefinedState(document: OpenAPIObject, app: INestApplication): OpenAPIObject {
  const described = descriptionOfState(app);
  const schemas = document.components?.schemas;
  if (!described || !schemas) return document;
  const entries = Object.entries(schemas).map(([name, schema]) => [name, withState(schema, described)] as const);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(entries) as Schemas } };
}

/** What the option `state` of the module says, as a part of a JSON Schema. */
function descriptionOfState(app: INestApplication): Described | undefined {
  const described = optionsIn(app).flatMap(({ state }) => {
    if (!state) return [];
    if (state instanceof StateDefinition) return [propertiesOf(state)];
    return Object.entries(state).map(([title, definition]) => ({ title, ...propertiesOf(definition) }));
  });
  return described.length > 1 ? { anyOf: described } : described[0];
}

/** Those of all stores. An app may have docs without sessions. */
function optionsIn(app: INestApplication): readonly SessionsModuleOptions[] {
  try {
    return app.get<SessionsModuleOptions>(MODULE_OPTIONS_TOKEN, { strict: false, each: true });
  } catch {
    return [];
  }
}

function propertiesOf(definition: StateDefinition): Described {
  return { properties: definition.jsonSchema().properties };
}

function withState(schema: Schemas[string], described: Described): unknown {
  if (!('properties' in schema)) return schema;
  const properties = Object.entries(schema.properties ?? {}).map(([name, property]) => {
    const isState = FIELDS_WITH_STATE.has(name) && 'type' in property && property.type === 'object';
    return [name, isState ? { ...property, ...described } : property] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
