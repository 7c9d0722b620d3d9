import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join, relative } from 'node:path'
import { build, type BuildOptions, type Plugin } from 'esbuild'
import { BuildInputMissingError } from './errors.ts'
import { BuildRecord } from './build-record.ts'
import { productVersion, programsDirectory, repository } from './paths.ts'
import { runProgram } from './program.ts'

/** Programs that run on Node: one file each, by the name that they have in the images. */
const bundles = {
  'kubectl-ko.mjs': 'apps/kubectl-ko/src/main.ts',
  'pinger.mjs': 'apps/pinger/src/main.ts',
  'speaker.mjs': 'apps/speaker/src/main.ts',
  'monitor.mjs': 'apps/monitor/src/main.ts',
  'controller.mjs': 'apps/controller/src/main.ts',
  'ask-plan.mjs': 'apps/controller/src/plan/ask.ts',
  'remove-finalizers.mjs': 'apps/uninstall/src/main.ts',
  'cni-agent.mjs': 'apps/cni/src/agent/main.ts',
  'cni-install.mjs': 'apps/cni/src/install/main.ts',
  'cni-forwarder.mjs': 'apps/cni/src/forwarder/main.ts',
} as const

export type BundleName = keyof typeof bundles

export const bundleNames = Object.keys(bundles) as readonly BundleName[]

/** The CNI plugin, a single executable because nodes have no Node. */
export const plugin = { name: 'kube-ovn', entry: 'apps/cni/src/plugin/main.ts' } as const

const common = {
  absWorkingDir: repository,
  outdir: programsDirectory,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node26',
  format: 'esm',
  // Replaced in the sources by the version of the product.
  define: { KUBE_OVN_VERSION: JSON.stringify(productVersion) },
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
} satisfies BuildOptions

/** ink looks whether React's tools for developers are installed before it imports them, but names them to the bundler. */
const withoutReactTools: Plugin = {
  name: 'without-react-tools',
  setup(build) {
    build.onResolve({ filter: /^react-devtools-core$/ }, ({ path }) => ({ path, namespace: 'absent' }))
    build.onLoad({ filter: /./, namespace: 'absent' }, () => ({ contents: 'export default undefined' }))
  },
}

const forNode = {
  ...common,
  entryPoints: Object.entries(bundles).map(([name, entry]) => ({
    in: entry,
    out: name.replace(/\.mjs$/, ''),
  })),
  // koffi finds its native part beside itself.
  external: ['koffi'],
  // Of React and ink what users need.
  define: { ...common.define, 'process.env.NODE_ENV': '"production"' },
  plugins: [withoutReactTools],
  // CommonJS packages inside call require() for what Node brings along.
  banner: {
    js:
      "import { createRequire as __createRequire } from 'node:module'\n" +
      'const require = __createRequire(import.meta.url)',
  },
  // Names stay for those who read a stack without the map; not by keepNames, which names each closure anew whenever it is made.
  minifyWhitespace: true,
  minifySyntax: true,
  sourcemap: 'linked',
  sourcesContent: false,
} satisfies BuildOptions

const forPlugin = { ...common, entryPoints: [{ in: plugin.entry, out: plugin.name }] } satisfies BuildOptions

/** Builds all bundles into `dist/programs`, unless nothing that they are made of has changed. */
export async function buildBundles(): Promise<void> {
  await bundle('bundles', forNode, bundleNames)
}

/** Compiles the CNI plugin into `dist/programs`, unless nothing that it is made of has changed. */
export async function buildPlugin(): Promise<void> {
  await bundle('plugin', forPlugin, [plugin.name], async () => {
    await compile({
      source: join(programsDirectory, `${plugin.name}.mjs`),
      outfile: join(programsDirectory, plugin.name),
    })
  })
}

/** Bundles, does what comes after, and records what went in, so that the next time it can be left out. */
async function bundle(
  name: string,
  options: BuildOptions & { readonly entryPoints: readonly { readonly in: string }[] },
  outputs: readonly string[],
  afterwards: () => Promise<void> = async () => undefined,
): Promise<void> {
  const record = new BuildRecord(name, options)
  if (await record.isCurrent(outputs)) return
  for (const entry of options.entryPoints) requireEntry(entry.in)
  await mkdir(programsDirectory, { recursive: true })
  const { metafile } = await build(options)
  await afterwards()
  await record.write(Object.keys(metafile?.inputs ?? {}))
}

/** Compiles `kubectl-ko` for this machine, unless nothing that it is made of has changed: users have no Node. */
export async function buildCommand(): Promise<void> {
  const entryPoints = [{ in: command.entry, out: command.name }]
  const options = {
    ...common,
    // For Node the bundle is kubectl-ko.mjs, which is made for that.
    outdir: join(programsDirectory, 'for-executables'),
    define: forNode.define,
    plugins: forNode.plugins,
    banner: forNode.banner,
    minify: true,
    entryPoints,
  } satisfies BuildOptions
  await bundle('command', options, [command.name, relative(programsDirectory, commandBundle)], () =>
    compile({ source: commandBundle, outfile: join(programsDirectory, command.name) }),
  )
}

/** The plugin of kubectl. */
export const command = { name: 'kubectl-ko', entry: 'apps/kubectl-ko/src/main.ts' } as const

/** What executables of it are made of. */
export const commandBundle = join(programsDirectory, 'for-executables', `${command.name}.mjs`)

interface Compilation {
  readonly source: string
  readonly outfile: string
  /** Of another platform: its name, and the executable of bun that it starts with. */
  readonly target?: { readonly name: string; readonly bun: string }
  /** Starts in half the time, and is some 10 MB larger. Default: yes. */
  readonly hasBytecode?: boolean
}

/** Makes an executable of a bundle. */
export async function compile({ source, outfile, target, hasBytecode = true }: Compilation): Promise<void> {
  await runProgram(bunPath(), [
    ...['build', '--compile', '--minify', '--format=esm'],
    ...(hasBytecode ? ['--bytecode'] : []),
    // What lies in the directory where a user is decides nothing.
    ...['--no-compile-autoload-dotenv', '--no-compile-autoload-bunfig'],
    ...(target === undefined ? [] : [`--target=${target.name}`, `--compile-executable-path=${target.bun}`]),
    `--outfile=${outfile}`,
    source,
  ])
}

export function bunPath(): string {
  return join(createRequire(import.meta.url).resolve('bun/package.json'), '../bin/bun.exe')
}

function requireEntry(entry: string): void {
  if (existsSync(join(repository, entry))) return
  throw new BuildInputMissingError('a program has no entry point', {
    path: entry,
    cure: 'write it, or take it off the list in tools/images/src/programs.ts',
  })
}
