import { arm } from './arm.ts';

arm();
