#include "experiments/cli/number.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "experiments/cli/command_list.hpp"

namespace espalier {
namespace {

using ::testing::HasSubstr;

/// What the validator makes of a text: the text that is converted, or "refused".
std::string read(const CLI::Validator& validator, std::string text) {
  return validator(text).empty() ? text : "refused";
}

TEST(NumberOption, WholeNumbersAreDecimalAndInTheRange) {
  const CLI::Validator v = whole_number(1, 1000);
  EXPECT_EQ(read(v, "1"), "1");
  EXPECT_EQ(read(v, "1000"), "1000");
  EXPECT_EQ(read(v, "010"), "10");  // not eight
  for (const char* text : {"0", "1001", "-1", "", " 1", "1 ", "+1", "0x10", "1e2", "1.0", "nan", "inf",
                           "9223372036854775808", "18446744073709551617", "99999999999999999999999"})
    EXPECT_EQ(read(v, text), "refused") << text;
  EXPECT_EQ(read(whole_number(-5, 5), "-05"), "-5");
  EXPECT_EQ(read(whole_number(0, 5), "-0"), "0");
  EXPECT_EQ(read(seed_number(), "18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(read(seed_number(), "18446744073709551616"), "refused");
}

TEST(NumberOption, NumbersAreFiniteAndInTheRange) {
  const CLI::Validator v = number(0, 1), above = positive_number(1e8);
  for (const char* text : {"0", "1", "0.5", "1e-3"}) EXPECT_EQ(read(v, text), text);
  for (const char* text : {"-0.1", "1.01", "nan", "-nan", "inf", "1e400", "", "0.5s", "0x1p-1"})
    EXPECT_EQ(read(v, text), "refused") << text;
  EXPECT_EQ(read(above, "1e8"), "1e8");
  for (const char* text : {"0", "-1", "1e9", "1e400", "nan"}) EXPECT_EQ(read(above, text), "refused") << text;
}

TEST(NumberOption, EveryOptionWithANumberNamesItsRange) {
  int numbers = 0;
  const auto refuses = [](const std::string& command, const std::string& option, const std::string& value) {
    int exit_code = 0;
    CLI::App app;
    add_commands(app, exit_code);
    try {
      app.parse(command + " " + option + " " + value);  // refused before the command's work
      ADD_FAILURE() << command << " " << option << " " << value << " is accepted";
    } catch (const CLI::ValidationError& e) {
      EXPECT_THAT(e.what(), HasSubstr("needed")) << command << " " << option << " " << value;
    } catch (const std::exception& e) {
      ADD_FAILURE() << command << " " << option << " " << value << ": " << e.what();
    }
  };
  int exit_code = 0;
  CLI::App app;
  add_commands(app, exit_code);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    for (const CLI::Option* option : command->get_options()) {
      const std::string type = option->get_type_name();
      if (!type.starts_with("INT") && !type.starts_with("UINT") && !type.starts_with("FLOAT")) continue;
      ++numbers;
      EXPECT_THAT(type, HasSubstr(" .. ")) << command->get_name() << " " << option->get_name();
      for (const char* value : {"99999999999999999999", "-99999999999999999999", "-1", "nan", "inf", "1e400"})
        refuses(command->get_name(), option->get_name(), value);
    }
  EXPECT_GT(numbers, 30);
}

}  // namespace
}  // namespace espalier
