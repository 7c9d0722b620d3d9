/** One thing that `npm run check` holds the whole checkout to. */
export interface CheckStep {
  readonly name: string
  /** Program and arguments, run in the checkout; succeeds if it exits with 0. */
  readonly command: readonly [string, ...string[]]
}

/** Independent of each other, so that all of them run at once. */
export const checkSteps: readonly CheckStep[] = [
  // By path: `typescript` is the version that has a JavaScript API, for the boundary rule.
  { name: 'types', command: ['node', 'node_modules/typescript-7/bin/tsc', '-p', 'tsconfig.json'] },
  { name: 'lint', command: ['node_modules/.bin/oxlint', '--deny-warnings'] },
  // What oxlint has no rule for: boundaries between projects, and rules of our own.
  { name: 'boundaries', command: ['node', 'tools/lint/src/main.ts'] },
  {
    name: 'format',
    command: [
      'node_modules/.bin/prettier',
      '--check',
      '--cache',
      '--cache-strategy',
      'content',
      '--log-level',
      'warn',
      '.',
    ],
  },
  {
    name: 'dead code',
    command: ['node_modules/.bin/knip', '--no-progress', '--treat-config-hints-as-errors'],
  },
  { name: 'generated', command: ['node', 'tools/generate/src/main.ts', '--check'] },
]
