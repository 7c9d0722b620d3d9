import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { buildProgram } from '../program.ts'
import { runCaptured } from '../run-captured.ts'
import { candidatesOf } from './candidates.ts'

const sink = new Writable()
const { signal } = new AbortController()
const outside = { stdin: Readable.from([]), stdout: sink, stderr: sink, directory: '/', environment: {} }
const program = buildProgram({ ...outside, signal, exitCode: 0 })

it.each([
  ['sta', { words: ['status'] }],
  ['nb ', { words: ['backup', 'dbstatus', 'kick', 'restore', 'status'] }],
  ['nb st', { words: ['status'] }],
  ['status --out', { words: ['--output'] }],
  ['status -o ', { words: ['json', 'table', 'wide', 'yaml'] }],
  ['status --kubeconfig x -o y', { words: ['yaml'] }],
  ['diagnose s', { words: ['subnet'] }],
  ['vsctl ', { words: [], objects: 'nodes' }],
  ['why ', { words: [], objects: 'pods' }],
  ['trace -n shop ', { words: [], objects: 'pods' }],
  ['topology ', { words: [], objects: 'vpcs' }],
  ['nosuch ', { words: [] }],
])('%j', (line, expected) => {
  expect(candidatesOf(program, line.split(' '))).toMatchObject(expected)
})

it('does not offer what is for scripts alone', () => {
  expect(candidatesOf(program, ['']).words).toEqual(expect.arrayContaining(['plan', 'status', 'trace']))
  expect(candidatesOf(program, ['_']).words).toEqual([])
})

it('answers scripts, also about flags, and says nothing where the cluster can not be asked', async () => {
  expect(await runCaptured(['__complete', '--', 'status', '--no-h'])).toMatchObject({
    stdout: '--no-headers\n',
  })
  const args = ['--kubeconfig', '/nonexistent', '__complete', '--', 'why', '']
  expect(await runCaptured(args)).toEqual({ exitCode: 0, stdout: '', stderr: '' })
})

it('completes in bash by its script', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kube-ovn-completion-'))
  try {
    const { stdout: script } = await runCaptured(['completion', 'bash'])
    await writeFile(join(directory, 'kubectl-ko'), '#!/bin/bash\nprintf "%s\\n" "$@"\n')
    await chmod(join(directory, 'kubectl-ko'), 0o755)
    const lines = `${script}\nCOMP_WORDS=(kubectl-ko nb st) COMP_CWORD=2\n_kubectl_ko\nprintf '%s\\n' "\${COMPREPLY[@]}"`
    const env = { ...process.env, PATH: `${directory}:${process.env['PATH'] ?? ''}` }
    const { stdout } = await promisify(execFile)('bash', ['-c', lines], { env })
    expect(stdout).toBe('__complete\n--\nnb\nst\n')
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})
