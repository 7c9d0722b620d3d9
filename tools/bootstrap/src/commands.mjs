/**
 * The commands of package.json: the program behind each, and what must be ready before it runs.
 *
 * `containers`: a Docker engine and the base image. `kubernetes`: the programs built from Go modules;
 * `imagePrograms`: only those of them that images are made of.
 * `images`: the product's container images. `atOnce`: first arguments for which nothing of that is made ready, because they deal with what runs.
 * `root`: it enters network namespaces. `fileOf`: of a command whose arguments are names of files, the file of a name; it says itself which
 * name there is not.
 *
 * @type {Record<string, { main: string, containers?: boolean, kubernetes?: boolean, imagePrograms?: boolean, images?: boolean, root?: boolean, atOnce?: string[], fileOf?: (name: string) => string }>}
 */
export const commands = {
  lab: {
    main: 'tools/lab/src/main.ts',
    ...{ containers: true, kubernetes: true, images: true, root: true },
    atOnce: [
      'help',
      '-h',
      'check',
      'status',
      'exec',
      'logs',
      'matrix',
      'node',
      'dashboards',
      'fault',
      'down',
    ],
  },
  test: { main: 'tools/run/src/test.ts', containers: true, kubernetes: true, images: true, root: true },
  e2e: {
    main: 'tools/run/src/e2e.ts',
    ...{ containers: true, kubernetes: true, images: true, root: true },
    fileOf: (name) => `tools/e2e/src/${name}.e2e.test.ts`,
  },
  bench: { main: 'tools/bench/src/main.ts', containers: true, kubernetes: true, images: true, root: true },
  golden: { main: 'tools/golden/src/main.ts', containers: true, kubernetes: true },
  build: { main: 'tools/images/src/build.ts' },
  images: { main: 'tools/images/src/main.ts', containers: true, imagePrograms: true },
  generate: { main: 'tools/generate/src/main.ts' },
  check: { main: 'tools/run/src/check.ts' },
}
