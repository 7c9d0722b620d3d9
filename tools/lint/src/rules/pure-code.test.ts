import { pureCode } from './pure-code.ts'
import { typescriptRuleTester } from './rule-tester.ts'

typescriptRuleTester().run('pure-code', pureCode, {
  valid: [
    `import { parseIp } from '@kube-ovn/ip'`,
    `import { plan } from './plan.ts'`,
    { name: 'a conversion is not the clock', code: `const text = new Date(nowMs).toISOString()` },
    `const ms = Date.parse('2026-01-01T00:00:00Z')`,
    `const half = Math.floor(size / 2)`,
    { name: 'types cost nothing', code: `function at(time: Date): number { return time.getTime() }` },
    { name: 'a name of its own', code: `function run(process: Step): void { process.start() }` },
    { name: 'a member of the same name', code: `pod.process(clock.performance)` },
    { name: 'randomness that is handed in', code: `const jitter = random() * 100` },
    `const instant = Temporal.Instant.fromEpochMilliseconds(nowMs)`,
  ],
  invalid: [
    { code: `import { readFileSync } from 'node:fs'`, errors: [{ messageId: 'node' }] },
    { code: `import type { Socket } from 'node:net'`, errors: [{ messageId: 'node' }] },
    { code: `import { createHash } from 'crypto'`, errors: [{ messageId: 'node' }] },
    { code: `export { join } from 'node:path'`, errors: [{ messageId: 'node' }] },
    { code: `const os = await import('node:os')`, errors: [{ messageId: 'node' }] },
    { code: `const now = Date.now()`, errors: [{ messageId: 'clock' }] },
    { code: `const now = Date['now']()`, errors: [{ messageId: 'clock' }] },
    { code: `const now = new Date()`, errors: [{ messageId: 'clock' }] },
    { code: `const now = Date()`, errors: [{ messageId: 'clock' }] },
    { code: `const clock = Date.now`, errors: [{ messageId: 'clock' }] },
    { code: `const now = performance.now()`, errors: [{ messageId: 'clock' }] },
    { code: `const now = Temporal.Now.instant()`, errors: [{ messageId: 'clock' }] },
    { code: `const now = globalThis.Date.now()`, errors: [{ messageId: 'clock' }] },
    { code: `const pick = Math.random()`, errors: [{ messageId: 'random' }] },
    { code: `const id = crypto.randomUUID()`, errors: [{ messageId: 'random' }] },
    { code: `const node = process.env.NODE_NAME`, errors: [{ messageId: 'process' }] },
    { code: `setTimeout(run, 100)`, errors: [{ messageId: 'process' }] },
  ],
})
