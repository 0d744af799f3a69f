// A program in CommonJS: the packages can be loaded with require.

const { connect } = require("@credit-data/promise")

connect({ variables: {} }).catch(({ name }) => console.log(name))
