export { docker } from './command.ts'
export { DockerCommandError } from './errors.ts'
export { ensureTestImage, type ImageSource } from './image.ts'
export { ensureTestNetwork, testLabel, testNetwork } from './network.ts'
