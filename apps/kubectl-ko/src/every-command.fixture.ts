import { expect } from 'vitest'
import type { Captured } from './run-captured.ts'

/** What is written behind the name of each command that asks a cluster. */
export const lines: Readonly<Record<string, readonly string[]>> = {
  status: [],
  top: [],
  why: ['shop/web'],
  explain: ['pod/shop/web'],
  plan: ['-f', 'manifest.yaml'],
  topology: [],
  'ipam who': ['10.16.0.7'],
  'ipam verify': [],
  'ipam leaks': [],
  nbctl: ['show'],
  sbctl: ['show'],
  icnbctl: ['show'],
  icsbctl: ['show'],
  vsctl: ['node-1', 'show'],
  ofctl: ['node-1', 'show', 'br-int'],
  dpctl: ['node-1', 'show'],
  appctl: ['node-1', 'list-commands'],
  'nb status': [],
  'nb kick': ['a1b2'],
  'nb backup': ['nb.db'],
  'nb dbstatus': [],
  'nb restore': ['manifest.yaml', '--yes'],
  'sb status': [],
  'sb kick': ['a1b2'],
  'sb backup': ['sb.db'],
  'sb dbstatus': [],
  'ovn-trace': ['shop/web', '10.16.0.7', 'icmp'],
  trace: ['shop/web', '10.16.0.7', 'tcp', '80'],
  tcpdump: ['shop/web', '-c', '1'],
  diagnose: ['all'],
  'env-check': [],
  log: ['all'],
  matrix: [],
  perf: ['--seconds', '0.1'],
  reload: [],
  'support-bundle': ['bundle'],
  version: [],
}

/** A command line for each of them. */
export const everyCommand = Object.entries(lines).map(([name, words]) => ({
  name,
  args: [...name.split(' '), ...words],
}))

/** Nothing was done, and one line, which is no stack, says more than what went wrong. */
export function expectOneSentence({ exitCode, stdout, stderr }: Captured, says: string | RegExp): void {
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^kubectl-ko: [^\n]*; [^\n]*\n$/)
  expect(stderr).toMatch(says)
}
