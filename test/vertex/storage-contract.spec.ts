import { describeSessionStorage } from '../../src/testing/index.js';
import { STORAGE_DIFFERENCES } from './support/differences.js';
import { openVertex } from './support/open-vertex.js';

describeSessionStorage({ name: 'Vertex AI', create: openVertex, skip: STORAGE_DIFFERENCES });
