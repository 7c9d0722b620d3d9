import { vpcResource } from '@kube-ovn/kube-api'
import { nodes, pods } from '@kube-ovn/kube'
import { docker, ensureTestImage, ensureTestNetwork, testLabel, testNetwork } from '@kube-ovn/testing-docker'
import { sharedKubeApi, type KubeApi } from '@kube-ovn/testing-kube'
import { execFile } from 'node:child_process'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runCaptured } from '../run-captured.ts'
import { Tmux } from '../top/tmux.ts'

const dockerfile = `FROM debian:trixie-slim
RUN apt-get update \\
 && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends libatomic1 zsh fish \\
 && rm -rf /var/lib/apt/lists/*
`
const repository = join(import.meta.dirname, '../../../..')
const main = join(repository, 'apps/kubectl-ko/src/main.ts')
const nodeDirectory = '/opt/node'
const prompt = '> '

/** How a user has each shell read the script that it is given, in a session that reads nothing else. */
const sessions = {
  bash: ['bash', '--norc', '--noprofile'],
  zsh: ['zsh', '-f'],
  fish: [
    ...['fish', '--no-config', '--init-command'],
    `function fish_prompt; echo -n '${prompt}'; end; set -g fish_autosuggestion_enabled 0; set -g fish_greeting`,
  ],
} as const
const reading = {
  bash: 'source <(kubectl-ko completion bash)',
  zsh: 'autoload -U compinit && compinit -u && source <(kubectl-ko completion zsh)',
  fish: 'kubectl-ko completion fish | source',
} as const
type Shell = keyof typeof sessions
const shells = Object.keys(sessions) as readonly Shell[]

let api: KubeApi
let container: string
let directory: string

beforeAll(async () => {
  api = await sharedKubeApi()
  directory = await mkdtemp(join(tmpdir(), 'kube-ovn-shells-'))
  for (const name of ['harbour-1', 'harbour-2', 'inland'])
    await api.client.create(nodes, { metadata: { name } })
  await api.client.create(vpcResource, { metadata: { name: 'red' }, spec: {} })
  await api.client.create(pods, {
    metadata: { namespace: 'default', name: 'web-0' },
    spec: { containers: [{ name: 'c', image: 'i' }] },
  })
  await writeProgram(join(directory, 'kubectl-ko'), startedBy(`${nodeDirectory}/node`))
  const [image] = await Promise.all([ensureTestImage('shells', { dockerfile }), ensureTestNetwork()])
  const mounts = [
    ...[repository, directory, dirname(api.kubeconfigPath)].map((path) => `${path}:${path}:ro`),
    `${dirname(process.execPath)}:${nodeDirectory}:ro`,
  ]
  container = await docker(
    ...['run', '--detach', '--rm', '--init', '--label', testLabel, '--network', testNetwork],
    ...mounts.flatMap((mount) => ['--volume', mount]),
    ...['--env', `KUBECONFIG=${api.kubeconfigPath}`, '--env', `PS1=${prompt}`, '--env', 'LC_ALL=C.UTF-8'],
    ...['--env', `PATH=${directory}:/usr/local/bin:/usr/bin:/bin`, image, 'sleep', 'infinity'],
  )
})

afterAll(async () => {
  await docker('rm', '--force', container)
  await rm(directory, { recursive: true })
  await api.reset()
})

/** A terminal in which a shell has read its script. */
async function open(shell: Shell): Promise<Tmux> {
  await using opened = new AsyncDisposableStack()
  const command = ['docker', 'exec', '--interactive', '--tty', container, ...sessions[shell]]
  const terminal = opened.use(await Tmux.start(command, { columns: 120, rows: 24 }))
  await shown(terminal, /^> *$/)
  await terminal.type(`${reading[shell]} && clear && echo read`)
  await terminal.press('Enter')
  await shown(terminal, /^read$/m)
  opened.move()
  return terminal
}

/** Resolves with what is shown once that is there. */
async function shown(terminal: Tmux, wanted: RegExp | string): Promise<string> {
  await expect.poll(async () => (await terminal.capture()).trimEnd(), { timeout: 180_000 }).toMatch(wanted)
  return terminal.capture()
}

/**
 * What becomes of a line when the key for completion is hit behind it, and then the letter X. Each
 * step waits to see what the last one did: fish asks the terminal where its cursor is before it clears
 * the screen, and may lose what is typed before it has the answer.
 */
async function completed(terminal: Tmux, line: string): Promise<string> {
  await terminal.press('C-l')
  await shown(terminal, /^> *$/)
  await terminal.type(line)
  await shown(terminal, `> ${line}`)
  await terminal.press('Tab')
  await terminal.type('X')
  const [, became = ''] = /^> (.*)X$/m.exec(await shown(terminal, /^> .*X$/m)) ?? []
  await terminal.press('C-u')
  return became
}

const lines = [
  ['kubectl-ko stat', 'kubectl-ko status '],
  ['kubectl-ko nb dbs', 'kubectl-ko nb dbstatus '],
  ['kubectl-ko status --no-h', 'kubectl-ko status --no-headers '],
  ['kubectl-ko status -o js', 'kubectl-ko status -o json '],
  ['kubectl-ko diagnose sub', 'kubectl-ko diagnose subnet '],
  ['kubectl-ko vsctl inl', 'kubectl-ko vsctl inland '],
  // As far as both nodes have it.
  ['kubectl-ko vsctl har', 'kubectl-ko vsctl harbour-'],
  ['kubectl-ko why def', 'kubectl-ko why default/web-0 '],
  ['kubectl-ko topology r', 'kubectl-ko topology red '],
  // Nothing can stand there.
  ['kubectl-ko nb nosuch', 'kubectl-ko nb nosuch'],
  ['kubectl-ko vsctl nowhere', 'kubectl-ko vsctl nowhere'],
] as const

it.each(shells)('%s completes commands, options, their values, and names of objects', async (shell) => {
  await using terminal = await open(shell)
  const became: (readonly [string, string])[] = []
  for (const [line] of lines) became.push([line, await completed(terminal, line)])
  expect(became).toEqual(lines)

  await terminal.press('C-l')
  await shown(terminal, /^> *$/)
  await terminal.type('kubectl-ko nb ')
  await shown(terminal, /^> kubectl-ko nb *$/)
  await terminal.press('Tab')
  await terminal.press('Tab')
  expect(await shown(terminal, /^backup\b.*$/m)).toMatch(/^backup +dbstatus +kick +restore +status/m)
})

it('kubectl completes by the program that it asks about its plugins', async () => {
  const here = await mkdtemp(join(tmpdir(), 'kube-ovn-plugin-'))
  const { stdout: script } = await runCaptured(['completion', 'kubectl'])
  await writeProgram(join(here, 'kubectl_complete-ko'), script)
  await writeProgram(join(here, 'kubectl-ko'), startedBy(process.execPath))
  const PATH = `${here}:${process.env['PATH'] ?? ''}`
  const env = { ...process.env, PATH, KUBECONFIG: api.kubeconfigPath }
  const ask = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { stdout } = await promisify(execFile)('kubectl', ['__complete', 'ko', ...words], { env })
    return stdout.trimEnd().split('\n')
  }
  try {
    expect(await ask('nb', 'dbs')).toEqual(['dbstatus', ':4'])
    expect(await ask('status', '--no-h')).toEqual(['--no-headers', ':4'])
    expect(await ask('vsctl', 'har')).toEqual(['harbour-1', 'harbour-2', ':4'])
  } finally {
    await rm(here, { recursive: true })
  }
})

/** The program from its sources. */
function startedBy(node: string): string {
  return `#!/bin/sh\nexec ${node} ${main} "$@"\n`
}

async function writeProgram(path: string, text: string): Promise<void> {
  await writeFile(path, text)
  await chmod(path, 0o755)
}
