import { mkdir } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build } from 'esbuild'
import { BuildInputMissingError } from './errors.ts'
import { productVersion, programsDirectory, repository } from './paths.ts'
import { runProgram } from './program.ts'

/** Programs that run on Node: one file each, by the name that they have in the images. */
export const bundles = {
  'controller.mjs': 'apps/controller/src/main.ts',
  'remove-finalizers.mjs': 'apps/uninstall/src/main.ts',
  'cni-agent.mjs': 'apps/cni/src/agent/main.ts',
  'cni-install.mjs': 'apps/cni/src/install/main.ts',
} as const

export type BundleName = keyof typeof bundles

/** The CNI plugin, a single executable because nodes have no Node. */
export const plugin = { name: 'kube-ovn', entry: 'apps/cni/src/plugin/main.ts' } as const

/** Replaced in the sources by the version of the product. */
const definitions = { KUBE_OVN_VERSION: JSON.stringify(productVersion) }

/** Builds all bundles into `dist/programs`. */
export async function buildBundles(): Promise<void> {
  await mkdir(programsDirectory, { recursive: true })
  await build({
    absWorkingDir: repository,
    entryPoints: Object.entries(bundles).map(([name, entry]) => ({
      in: existingEntry(entry),
      out: name.replace(/\.mjs$/, ''),
    })),
    outdir: programsDirectory,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node26',
    format: 'esm',
    // koffi finds its native part beside itself.
    external: ['koffi'],
    // CommonJS packages inside call require() for what Node brings along.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'\nconst require = __createRequire(import.meta.url)",
    },
    define: definitions,
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    legalComments: 'none',
    logLevel: 'warning',
  })
}

/** Compiles the CNI plugin into `dist/programs`. */
export async function buildPlugin(): Promise<void> {
  await mkdir(programsDirectory, { recursive: true })
  const bun = join(createRequire(import.meta.url).resolve('bun/package.json'), '../bin/bun.exe')
  await runProgram(bun, [
    'build',
    ...['--compile', '--bytecode', '--minify', '--format=esm'],
    ...Object.entries(definitions).flatMap(([name, value]) => ['--define', `${name}=${value}`]),
    `--outfile=${join(programsDirectory, plugin.name)}`,
    join(repository, existingEntry(plugin.entry)),
  ])
}

function existingEntry(entry: string): string {
  if (!existsSync(join(repository, entry))) {
    throw new BuildInputMissingError('a program has no entry point', {
      path: entry,
      cure: 'write it, or take it off the list in tools/images/src/programs.ts',
    })
  }
  return entry
}
