import type { Command } from 'commander'
import { Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { buildProgram } from './program.ts'
import { runCaptured } from './run-captured.ts'

const sink = new Writable()
const program = buildProgram({
  stdin: Readable.from([]),
  stdout: sink,
  stderr: sink,
  directory: '/',
  environment: {},
  signal: new AbortController().signal,
  exitCode: 0,
})

function namesUnder(command: Command, path: readonly string[] = []): readonly (readonly string[])[] {
  // What is for scripts alone has no help.
  return command.commands
    .filter((child) => child.name() !== '__complete')
    .flatMap((child) => {
      const own = [...path, child.name()]
      return [own, ...namesUnder(child, own)]
    })
}

it('prints help without arguments, and ends with 0', async () => {
  const { exitCode, stdout } = await runCaptured([])
  expect(exitCode).toBe(0)
  expect(stdout).toContain('Usage: kubectl-ko')
})

it.each(namesUnder(program).map((path) => ({ path, line: path.join(' ') })))(
  '$line --help has examples that begin with its name',
  async ({ path }) => {
    const { exitCode, stdout } = await runCaptured([...path, '--help'])
    expect(exitCode).toBe(0)
    const [, examples = ''] = stdout.split('\nExamples:\n')
    expect(examples.split('\n')[0]).toMatch(new RegExp(`^  (\\S+=\\S+ )?kubectl ko ${path.join(' ')}( |$)`))
  },
)

describe('a wrong command line ends with 2 and says what to write', () => {
  it.each([
    { args: ['nbctrl'], says: "unknown command 'nbctrl'\n(Did you mean nbctl?)" },
    { args: ['nb', 'staus'], says: "unknown command 'staus'" },
    { args: ['nb', 'kick'], says: "missing required argument 'server'" },
    { args: ['nb', 'status', '-o', 'xml'], says: 'Allowed choices are table, wide, json, yaml' },
    { args: ['nb', 'status', '--wrong'], says: "unknown option '--wrong'" },
    { args: ['vsctl'], says: 'write kubectl ko vsctl NODE' },
    { args: ['nb', 'restore', 'x'], says: "required option '--yes'" },
    { args: ['nb', 'restore', 'x', '--yes'], says: 'write the path of a file that nb backup has written' },
  ])('$args', async ({ args, says }) => {
    const { exitCode, stdout, stderr } = await runCaptured(args)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    expect(stderr).toContain(says)
    expect(stderr).toMatch(/^kubectl-ko: /)
  })
})

it('says in one sentence that there is no kubeconfig', async () => {
  const { exitCode, stderr } = await runCaptured(['--kubeconfig', '/nonexistent', 'nbctl', 'show'])
  expect(exitCode).toBe(1)
  expect(stderr).toMatch(/^kubectl-ko: .*\/nonexistent.*give a kubeconfig\n$/)
})

/** Of Kube-OVN 1.17, but `nb restore`, which takes a file here and a word that one means it. */
const forms = [
  ...['nbctl show', 'sbctl show', 'icnbctl show', 'icsbctl --format=json show'],
  ...['nb', 'sb'].flatMap((name) =>
    ['status', 'kick a1b2', 'backup', 'dbstatus'].map((rest) => `${name} ${rest}`),
  ),
  ...['vsctl n1 show', 'ofctl n1 show br-int', 'dpctl n1 show', 'appctl n1 list-commands'],
  ...['tcpdump shop/web', 'tcpdump web -c 1 -nn -w - port 80'],
  ...['trace', 'ovn-trace'].flatMap((name) =>
    [
      ...['shop/web 10.16.0.7 icmp', 'web 10.16.0.7 tcp 80', 'shop/web fd00::7 udp 53'],
      ...['shop/web 10.16.0.7 0a:58:0a:10:00:07 tcp 80', 'shop/web 10.16.0.7 0a:58:0a:10:00:07 arp reply'],
      ...['shop/web 10.16.0.7 arp', 'shop/web 10.16.0.7 arp request', 'node//n1 10.16.0.7 icmp'],
      ...['node//n1 10.16.0.7 0a:58:0a:10:00:07 udp 53', 'node//n1 10.16.0.7 arp request'],
    ].map((rest) => `${name} ${rest}`),
  ),
  ...['diagnose', 'diagnose all', 'diagnose node n1', 'diagnose subnet shop'],
  'diagnose IPPorts tcp-172.18.0.2-53,udp-172.18.0.3-53,tcp-fd00::1-80',
  ...['env-check', 'reload', 'perf', 'perf docker.io/kubeovn/test:v1.13.0'],
  ...['kube-ovn', 'ovn', 'ovs', 'linux', 'all'].map((component) => `log ${component}`),
]

it.each(forms)('takes the form of earlier plugins: %s', async (line) => {
  const { exitCode, stderr } = await runCaptured(['--kubeconfig', '/nonexistent', ...line.split(' ')])
  // It got as far as the cluster.
  expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: expect.stringContaining('/nonexistent') })
})
