import { expect, it } from 'vitest'
import { readTestOutput } from './policy-conformance.ts'

const output = `=== RUN   TestConformance
    conformance_test.go:70: Running conformance tests
=== RUN   TestConformance/Egress
=== RUN   TestConformance/Egress/Should_allow
    rules.go:12: asks
=== RUN   TestConformance/Egress/Should_deny
    rules.go:20: no answer
=== NAME  TestConformance
    conformance_test.go:90: cleans up
--- FAIL: TestConformance (12.50s)
    --- FAIL: TestConformance/Egress (12.00s)
        --- PASS: TestConformance/Egress/Should_allow (1.25s)
        --- FAIL: TestConformance/Egress/Should_deny (9.00s)
    --- SKIP: TestConformance/Ingress (0.00s)
FAIL
`

it('tells the outcome and the time of each claim, and of one that failed what it wrote', () => {
  expect(readTestOutput(output)).toEqual([
    { name: 'TestConformance/Egress/Should_allow', state: 'passed', seconds: 1.25, failure: '' },
    {
      ...{ name: 'TestConformance/Egress/Should_deny', state: 'failed', seconds: 9 },
      failure: '    rules.go:20: no answer\n',
    },
    { name: 'TestConformance/Ingress', state: 'skipped', seconds: 0, failure: '' },
  ])
})

it('tells what was written when not even the first part was begun', () => {
  const text = '=== RUN   TestConformance\n    x.go:1: no cluster\n--- FAIL: TestConformance (0.10s)\nFAIL\n'
  expect(readTestOutput(text)).toMatchObject([{ state: 'failed', failure: '    x.go:1: no cluster\n' }])
  expect(readTestOutput('')).toEqual([])
})

const failing = (...commands: readonly string[]): string =>
  [
    '=== RUN   TestConformance/Gress',
    ...commands.flatMap((protocol) => [
      `    x.go:1: FAILED Command was [/agnhost connect --timeout=3s --protocol=${protocol} 10.16.0.5:80]`,
      `    x.go:1: it failed: ${protocol === 'sctp' ? 'OTHER: protocol not supported' : 'TIMEOUT'}`,
      '        \tError Trace:\tx.go:2',
    ]),
    '--- FAIL: TestConformance/Gress (9.00s)',
    '',
  ].join('\n')

it('takes one that failed by a protocol that the kernel lacks, and by nothing else, for skipped', () => {
  expect(readTestOutput(failing('sctp', 'sctp'))).toMatchObject([{ state: 'skipped' }])
  expect(readTestOutput(failing('sctp', 'tcp'))).toMatchObject([{ state: 'failed' }])
  expect(readTestOutput(failing())).toMatchObject([{ state: 'failed' }])
  // One that was asked again until it held.
  const again = failing('tcp').replace('Error Trace', 'asked again').split('--- FAIL')[0] ?? ''
  expect(readTestOutput(`${again}${failing('sctp')}`)).toMatchObject([{ state: 'skipped' }])
})
