import { describeSpecs } from './describe-specs.js';

describeSpecs('unit', 'transports', 'watching', 'architecture', 'docs', 'counted', 'telemetry');
