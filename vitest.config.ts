import { defineConfig } from 'vitest/config'
import { LongFirst } from './tools/run/src/long-first.ts'

/** Types that need a daemon, root or a cluster run in projects of their own, so that unit tests stay fast. */
export default defineConfig({
  test: {
    reporters: ['default'],
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{apps,tools}/*/src/**/*.test.ts', 'libs/*/*/src/**/*.test.ts'],
          exclude: ['**/*.it.test.ts', '**/*.e2e.test.ts', '**/node_modules/**'],
          // For machines that are busy: no unit test takes long by itself.
          testTimeout: 180_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{apps,tools}/*/src/**/*.it.test.ts', 'libs/*/*/src/**/*.it.test.ts'],
          // What the chart allows and nobody needs is told at the end.
          globalSetup: ['libs/testing/kube/src/rights-report.ts'],
          exclude: ['**/node_modules/**'],
          // A worker keeps its API server from one file to the next.
          isolate: false,
          // A machine may stand still for a minute; what waits this long in vain costs it only where it fails.
          testTimeout: 240_000,
          hookTimeout: 300_000,
          expect: { poll: { timeout: 60_000 } },
          // Tests wait for what they have started: two at a time leave a fifth of two processors idle.
          maxWorkers: 3,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['tools/e2e/src/**/*.e2e.test.ts'],
          // No packet of a lab may leave the machine.
          globalSetup: ['given-cluster', 'watch-uplink', 'lab-owner'].map(
            (name) => `tools/e2e/src/${name}.ts`,
          ),
          exclude: ['**/node_modules/**'],
          testTimeout: 900_000,
          hookTimeout: 900_000,
          // Half of the time a suite waits for what it has done to its cluster. There is one cluster if it is given.
          maxWorkers: process.env['KUBECONFIG'] ? 1 : 2,
        },
      },
    ],
  },
})
