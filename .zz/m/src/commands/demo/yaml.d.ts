/** The build puts YAML files into the bundle as text. */
declare module "*.yaml" {
  const text: string
  export default text
}
