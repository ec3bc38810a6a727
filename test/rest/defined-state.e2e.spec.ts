import { z } from 'zod';
import { defineState } from '../../src/index.js';
import { mountDocs } from '../../src/openapi/index.js';
import { GraphqlApp } from '../graphql/graphql-app.js';
import { RestApp } from './rest-app.js';

const state = defineState({ step: z.number(), 'user:theme': z.enum(['light', 'dark']) });
const SESSION = '/apps/shop/users/ann/sessions/s1';

describe('A defined state', () => {
  it('is checked in requests to REST, and described in the OpenAPI document', async () => {
    const app = await RestApp.start('Express', { sessions: { state }, prepare: mountDocs });
    try {
      const refused = { status: 400, body: { code: 'INVALID_INPUT', path: '$.state.step' } };
      expect(await app.request('POST', SESSION, { state: { step: 'x' } })).toMatchObject(refused);
      expect(await app.request('POST', SESSION, { state: { step: 1 } })).toMatchObject({ status: 201 });
      expect(await app.request('PATCH', `${SESSION}/state`, { stateDelta: { stepp: 1 } })).toMatchObject({
        status: 400,
      });
      expect(await app.request('PATCH', '/apps/shop/users/ann/state', { stateDelta: { theme: 'red' } })).toMatchObject({
        status: 400,
      });
      const { body } = await app.request('GET', '/openapi.json');
      const { schemas } = body.components as { schemas: Record<string, { properties: Record<string, unknown> }> };
      const properties = { step: { type: 'number' }, 'user:theme': { type: 'string', enum: ['light', 'dark'] } };
      expect(schemas.Session?.properties.state).toMatchObject({ type: 'object', properties });
      expect(schemas.StateChange?.properties.stateDelta).toMatchObject({ type: 'object', properties });
    } finally {
      await app.close();
    }
  });

  it('is checked in mutations of GraphQL', async () => {
    const app = await GraphqlApp.start({ sessions: { state } });
    try {
      const create = 'mutation ($state: JSON) { createSession(appName: "shop", userId: "ann", state: $state) { id } }';
      const { errors } = await app.ask(create, { state: { step: 'x' } });
      expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', path: '$.state.step' } }]);
    } finally {
      await app.close();
    }
  });
});
