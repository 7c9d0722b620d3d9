import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { tryProgram } from './program.ts'

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lab-input-'))
  writeFileSync(join(directory, 'broken.yaml'), 'nodes: [1')
  writeFileSync(join(directory, 'wrong.yaml'), 'vlans: [5000]')
})

afterAll(() => rmSync(directory, { recursive: true }))

interface BadInput {
  readonly name: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The sentence, and below it what to do. */
  readonly says: readonly [RegExp, RegExp]
}

const cases: readonly BadInput[] = [
  {
    name: 'a topology file that is no YAML',
    args: ['--topology', 'broken.yaml'],
    says: [
      /^the topology is not understood: field the file, value Flow sequence/,
      /^→ YAML, e\.g\. "nodes: 2"$/,
    ],
  },
  {
    name: 'a topology file with a value that can not be',
    args: ['--topology', 'wrong.yaml'],
    says: [
      /^the topology is not understood: field vlans\[0\], value 5000$/,
      /^→ a whole number from 1 to 4094$/,
    ],
  },
  {
    name: 'a topology file that is not there',
    args: ['--topology', 'nowhere.yaml'],
    says: [
      /^the topology is not understood: field --topology, value nowhere\.yaml$/,
      /^→ a file that exists, or one of two-nodes, /,
    ],
  },
  {
    name: 'an option that does not exist',
    args: ['--sideways'],
    says: [/^the command line is not understood: argument .*'--sideways'/, /^→ npm run lab -- --help /],
  },
  {
    name: 'a lab that is not there',
    args: ['matrix', '--id', 'nobodys'],
    says: [
      /^there is no such lab: argument --id nobodys$/,
      /^→ (there is none; npm run lab -- up makes one|one of .*)$/,
    ],
  },
  ...(['exec', 'logs', 'fault', 'node'] as const).map((verb): BadInput => {
    const args = verb === 'node' ? [verb, 'reboot', 'node-1'] : [verb]
    return {
      name: `a lab that is not there, asked for by ${verb}`,
      args: [...args, '--id', 'nobodys'],
      says: [/^there is no such lab: argument --id nobodys$/, /^→ /],
    }
  }),
  {
    name: 'a name where --id is meant',
    args: ['down', 'nobodys'],
    says: [/^the command line is not understood: argument down nobodys$/, /^→ .*--id NAME$/],
  },
  {
    name: 'a topology that is a directory',
    args: ['--topology', '.'],
    says: [/^the topology is not understood: field --topology, value \.$/, /^→ a file that exists/],
  },
  {
    name: 'an engine that does not run',
    args: ['status'],
    env: { DOCKER_HOST: 'unix:///run/no-docker.sock' },
    says: [
      /^the Docker engine does not answer: what \/run\/no-docker\.sock: ENOENT$/,
      /^→ install and start Docker /,
    ],
  },
]

it.each(cases)('says what is wrong with $name, and what to do', async ({ args, env, says }) => {
  const main = join(import.meta.dirname, 'main.ts')
  const { exitCode, stdout, stderr } = await tryProgram(process.execPath, [main, ...args], {
    cwd: directory,
    ...(env === undefined ? {} : { env }),
  })
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  const lines = stderr.trimEnd().split('\n')
  expect(lines).toHaveLength(2)
  for (const [index, pattern] of says.entries()) expect(lines[index]).toMatch(pattern)
})

it.each([
  {
    name: 'an engine that DOCKER_HOST names and that is not there',
    enter: [],
    env: { DOCKER_HOST: 'unix:///nonexistent' },
    says: /^no Docker engine answers at unix:\/\/\/nonexistent, which DOCKER_HOST names\n→ name the socket .*\n$/,
  },
  {
    name: 'a user who is not root',
    enter: ['unshare', '--user'],
    env: {},
    says: /^npm run lab takes root, and this user is 65534: .*\n→ run it as root, e\.g\. with sudo\n$/,
  },
  {
    name: 'a lab that is not there',
    enter: [],
    env: {},
    args: ['matrix', '--json', '--id', 'nobodys'],
    says: /^there is no such lab: argument --id nobodys\n→ .*\n$/,
  },
])('says so before it makes anything ready for $name', async ({ enter, env, says, args: words = [] }) => {
  const run = join(import.meta.dirname, '../../bootstrap/run.mjs')
  const [command = '', ...args] = [...enter, process.execPath, run, 'lab', ...words]
  const { exitCode, stdout, stderr } = await tryProgram(command, args, { env })
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(says)
})

it('says to a user who is not root that it takes root', async () => {
  const main = join(import.meta.dirname, 'main.ts')
  // In a user namespace of its own a process is nobody, and may still read what it did before.
  const { exitCode, stderr } = await tryProgram('unshare', ['--user', process.execPath, main])
  expect(exitCode).toBe(1)
  expect(stderr).toBe(
    'this user can make no lab: what it is not root but user 65534\n→ run it as root, e.g. with sudo: it enters network namespaces\n',
  )
})

it.each([
  [
    '/dev/net',
    '/dev/net/tun',
    'load the module tun (modprobe tun): the userspace data path has such devices',
  ],
  [
    '/proc/sys',
    '/proc/sys/net/ipv6',
    'start the kernel without ipv6.disable=1: every lab has IPv6 addresses',
  ],
])('says which feature the kernel lacks when %s is empty', async (hidden, what, cure) => {
  const main = join(import.meta.dirname, 'main.ts')
  // In a mount namespace of its own, so that nobody else misses it.
  const script = 'mount -t tmpfs none "$1" && exec "$2" "$3"'
  const enter = ['--mount', 'sh', '-c', script, 'sh', hidden]
  const { exitCode, stdout, stderr } = await tryProgram('unshare', [...enter, process.execPath, main])
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toBe(`this machine can hold no lab: what ${what} is missing\n→ ${cure}\n`)
})
