import { Test } from '@nestjs/testing';
import { ConfigurationError, SessionsModule } from '../../src/index.js';
import { OpenAccess, SessionsGraphqlModule } from '../../src/sessions/graphql/index.js';

describe('SessionsGraphqlModule', () => {
  it('refuses to start without GraphQLModule', async () => {
    const imports = [
      SessionsModule.forRoot({ provider: 'memory', isGlobal: true }),
      SessionsGraphqlModule.forRoot({ access: OpenAccess, explorer: false }),
    ];
    const app = (await Test.createTestingModule({ imports }).compile()).createNestApplication({ logger: false });
    const started = app.init();
    await expect(started).rejects.toBeInstanceOf(ConfigurationError);
    await expect(started).rejects.toThrow(/import GraphQLModule\.forRoot/);
    await app.close();
  });
});
