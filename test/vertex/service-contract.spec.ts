import { describeSessionService, sessionsOver } from '../../src/testing/index.js';
import { SERVICE_DIFFERENCES } from './support/differences.js';
import { openVertex } from './support/open-vertex.js';

describeSessionService({ name: 'Vertex AI', create: sessionsOver(openVertex), skip: SERVICE_DIFFERENCES });
